/*
 * incident: A metrics agent asks the JVM for a histogram of all objects twice a second, and each of them is a full collection and a walk through the heap.
 * names: safepoint-long|safepoint-frequent|gc-full|gc-share Metrics.histogram
 * flags: -Xmx512m
 * load: cpu
 * jfr: jdk.GarbageCollection Inspection
 */
package safepoints;

import incidents.Incident;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

public final class HistogramPoller {
    /** Sends counts of objects to a dashboard. */
    static final class Metrics {
        private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        private int lines;

        private String histogram() throws JMException {
            ObjectName commands = new ObjectName("com.sun.management:type=DiagnosticCommand");
            Object[] noOptions = {new String[0]};
            return (String) server.invoke(commands, "gcClassHistogram", noOptions, new String[] {String[].class.getName()});
        }

        void publish() {
            try {
                lines = histogram().split("\n").length;
            } catch (JMException e) {
                System.err.println("no histogram: " + e);
            }
        }
    }

    private final Map<Integer, List<String>> customers = new HashMap<>();

    private void fill(int count) {
        for (int i = 0; i < count; i++) {
            customers.put(i, List.of("customer " + i, "city " + i % 100));
        }
    }

    public static void main(String[] args) throws Exception {
        HistogramPoller shop = new HistogramPoller();
        shop.fill(500_000);
        Metrics metrics = new Metrics();
        ScheduledExecutorService agent = Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "metrics-agent"));
        agent.scheduleWithFixedDelay(metrics::publish, 0, 500, TimeUnit.MILLISECONDS);
        Thread requests = new Thread(() -> {
            for (int i = 0; metrics.lines >= 0; i++) {
                shop.customers.get(i % 500_000);
                LockSupport.parkNanos(1_000_000);
            }
        }, "requests");
        requests.setDaemon(true);
        requests.start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
