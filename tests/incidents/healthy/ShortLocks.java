/*
 * healthy: Two threads count events under one monitor many thousand times a second, and hold it for nanoseconds.
 */
import incidents.Incident;
import java.util.concurrent.locks.LockSupport;

public final class ShortLocks {
    static final class Statistics {
        private long events;
        private long largest;

        synchronized void record(long size) {
            events++;
            largest = Math.max(largest, size);
        }

        synchronized long mean() {
            return events == 0 ? 0 : largest / events;
        }
    }

    private static void receive(Statistics statistics, int seed) {
        for (long i = seed; ; i++) {
            statistics.record(i & 4095);
            if (i % 100 == 0) {
                LockSupport.parkNanos(2_000_000);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Statistics statistics = new Statistics();
        for (int i = 0; i < 2; i++) {
            int seed = i * 37;
            new Thread(() -> receive(statistics, seed), "receiver-" + i).start();
        }
        Thread.sleep(500);
        Incident.ready();
        while (statistics.mean() >= 0) {
            Thread.sleep(1000);
        }
    }
}
