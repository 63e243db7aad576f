/*
 * incident: Each job makes a pool of its own and never shuts it down, so five more threads stay each second.
 * names: thread-leak NeverShutDown
 * jfr: jdk.ThreadStart NeverShutDown
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public final class NeverShutDown {
    private static int part(int job, int part) {
        int sum = job;
        for (int i = 0; i < 1000; i++) {
            sum += i * part;
        }
        return sum;
    }

    private static int runJob(int job) throws InterruptedException, ExecutionException {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<Integer>> parts = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int part = i;
            parts.add(pool.submit(() -> part(job, part)));
        }
        int sum = 0;
        for (Future<Integer> part : parts) {
            sum += part.get();
        }
        return sum;
    }

    private static void runJobs() {
        try {
            for (int job = 0; ; job++) {
                if (runJob(job) == Integer.MIN_VALUE) {
                    return;
                }
                Thread.sleep(400);
            }
        } catch (InterruptedException | ExecutionException e) {
            System.err.println("job failed: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(NeverShutDown::runJobs, "jobs").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
