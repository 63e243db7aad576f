/*
 * healthy: A scheduler with four threads runs five small jobs at different intervals.
 */
import incidents.Incident;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

public final class ScheduledJobs {
    private final Map<String, Integer> runs = new HashMap<>();
    private final ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(4);

    private synchronized void count(String job) {
        runs.merge(job, 1, Integer::sum);
    }

    private void plan(String job, long every, Runnable work) {
        scheduler.scheduleAtFixedRate(() -> {
            work.run();
            count(job);
        }, every, every, TimeUnit.MILLISECONDS);
    }

    private static void rotateKeys() {
        long key = System.nanoTime();
        for (int i = 0; i < 2000; i++) {
            key = key * 6364136223846793005L + 1;
        }
        if (key == 0) {
            throw new IllegalStateException("a weak key");
        }
    }

    private static void expireTokens() {
        Map<Integer, Long> tokens = new HashMap<>();
        for (int i = 0; i < 200; i++) {
            tokens.put(i, (long) i);
        }
        tokens.values().removeIf(age -> age > 100);
    }

    public static void main(String[] args) throws Exception {
        ScheduledJobs jobs = new ScheduledJobs();
        jobs.plan("keys", 1000, ScheduledJobs::rotateKeys);
        jobs.plan("tokens", 250, ScheduledJobs::expireTokens);
        jobs.plan("heartbeat", 500, () -> { });
        jobs.plan("memory", 2000, () -> Runtime.getRuntime().freeMemory());
        jobs.plan("report", 3000, () -> jobs.count("all"));
        Thread.sleep(600);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
