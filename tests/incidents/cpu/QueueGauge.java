/*
 * incident: A gauge asks a long ConcurrentLinkedQueue for its size on each event, which walks through all of it.
 * names: cpu-hot-line QueueGauge$Intake.offer
 * load: cpu
 * jfr: jdk.ExecutionSample QueueGauge
 */
import incidents.Incident;
import java.util.concurrent.ConcurrentLinkedQueue;

public final class QueueGauge {
    private static volatile long shown;

    static final class Intake {
        private final ConcurrentLinkedQueue<Long> pending = new ConcurrentLinkedQueue<>();

        void offer(long event) {
            pending.add(event);
            if (pending.size() > 50_000) {
                pending.poll();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Intake intake = new Intake();
        Thread feed = new Thread(() -> {
            for (long i = 0; ; i++) {
                intake.offer(i);
                shown = i;
            }
        }, "feed");
        feed.setDaemon(true);
        feed.start();
        Thread.sleep(2000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
