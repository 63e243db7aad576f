/*
 * incident: The JVM was told to end, and a shutdown hook waits for a collector of metrics that never answers.
 * names: slow-shutdown FlushAtExit.flush
 * jfr: none
 */
package threads;

import incidents.Incident;
import java.util.concurrent.CountDownLatch;

public final class FlushAtExit {
    private final CountDownLatch flushed = new CountDownLatch(1);

    private void flush() {
        try {
            flushed.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        FlushAtExit metrics = new FlushAtExit();
        Runtime.getRuntime().addShutdownHook(new Thread(metrics::flush, "metrics-flush"));
        Incident.ready();
        new Thread(() -> System.exit(0), "admin").start();
        Incident.untilStdinEnds();
    }
}
