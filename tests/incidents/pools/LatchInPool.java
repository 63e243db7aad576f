/*
 * incident: Each batch waits at a latch that its own items count down, but these are queued in the pool that the batches occupy.
 * names: starved-pool Batch.run
 * jfr: none
 */
package pools;

import incidents.Incident;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

public final class LatchInPool {
    private final ExecutorService pool =
        new ThreadPoolExecutor(3, 3, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(500));
    private final LongAdder shipped = new LongAdder();

    private final class Batch implements Runnable {
        private final int items;
        private final CountDownLatch open;

        Batch(int items) {
            this.items = items;
            open = new CountDownLatch(items);
        }

        @Override
        public void run() {
            try {
                pause();
                for (int item = 0; item < items; item++) {
                    pool.execute(this::ship);
                }
                open.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void ship() {
            shipped.increment();
            open.countDown();
        }

        private void pause() throws InterruptedException {
            Thread.sleep(10L + items);
        }
    }

    public static void main(String[] args) throws Exception {
        LatchInPool depot = new LatchInPool();
        for (int i = 0; i < 6; i++) {
            depot.pool.execute(depot.new Batch(4 + i));
        }
        Thread statistics = new Thread(() -> {
            while (depot.shipped.sum() >= 0) {
                try {
                    Thread.sleep(250);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }, "statistics");
        statistics.setDaemon(true);
        statistics.start();
        Thread.sleep(400);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
