/*
 * healthy: A hundred pool threads are parked in three pools, as after a busy hour.
 */
import incidents.Incident;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;

public final class IdlePools {
    private static void warm(ExecutorService pool, int threads) throws InterruptedException {
        CountDownLatch started = new CountDownLatch(threads);
        for (int i = 0; i < threads; i++) {
            pool.execute(() -> {
                started.countDown();
                awaitOthers(started);
            });
        }
        started.await();
    }

    private static void awaitOthers(CountDownLatch started) {
        try {
            started.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService http = Executors.newFixedThreadPool(60);
        ExecutorService database = Executors.newCachedThreadPool();
        ExecutorService timers = Executors.newScheduledThreadPool(10);
        warm(http, 60);
        warm(database, 30);
        warm(timers, 10);
        ForkJoinPool.commonPool().submit(() -> 1).get();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
