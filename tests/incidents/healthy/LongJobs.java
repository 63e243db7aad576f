/*
 * healthy: A controller waits for the results of jobs that compute a little and sleep for long, as they are meant to; others wait at a latch for the end.
 */
package healthy;

import incidents.Incident;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public final class LongJobs {
    private final ExecutorService workers = Executors.newFixedThreadPool(3);
    private final CountDownLatch shutdown = new CountDownLatch(1);

    private static long job(int number) throws InterruptedException {
        long sum = 0;
        for (int step = 0; step < 100_000; step++) {
            sum += step ^ number;
            if (step % 1000 == 0) {
                Thread.sleep(100);
            }
        }
        return sum;
    }

    private void control() {
        try {
            for (int number = 0; ; number++) {
                int first = number;
                Future<Long> a = workers.submit(() -> job(first));
                Future<Long> b = workers.submit(() -> job(first + 1));
                report(a.get() + b.get());
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void report(long sum) {
        System.err.println("jobs are done: " + sum);
    }

    private void untilShutdown() {
        try {
            shutdown.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        LongJobs jobs = new LongJobs();
        new Thread(jobs::control, "controller").start();
        for (int i = 0; i < 3; i++) {
            new Thread(jobs::untilShutdown, "shutdown-hook-" + i).start();
        }
        Thread.sleep(700);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
