/*
 * incident: Twenty jobs a second take a second and more each, and Quartz has two threads for them: all are late.
 * names: pool-exhausted Pings$Ping.execute
 * jars: libquartz2-java/quartz2 libslf4j-java/slf4j-api libslf4j-java/slf4j-nop libc3p0-java/c3p0
 */
package libraries;

import incidents.Incident;
import java.util.Properties;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.TriggerBuilder;
import org.quartz.impl.StdSchedulerFactory;

public final class Pings {
    public static final class Ping implements Job {
        @Override
        public void execute(JobExecutionContext context) {
            Incident.sleep(1200);
        }
    }

    public static void main(String[] args) throws SchedulerException {
        Properties settings = new Properties();
        settings.put("org.quartz.threadPool.threadCount", "2");
        settings.put("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
        settings.put("org.quartz.jobStore.class", "org.quartz.simpl.RAMJobStore");
        Scheduler scheduler = new StdSchedulerFactory(settings).getScheduler();
        scheduler.start();
        for (int i = 0; i < 20; i++) {
            scheduler.scheduleJob(JobBuilder.newJob(Ping.class).withIdentity("ping-" + i).build(),
                TriggerBuilder.newTrigger().withSchedule(SimpleScheduleBuilder.repeatSecondlyForever()).build());
        }
        Incident.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
