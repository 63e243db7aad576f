/*
 * incident: Four hundred mails a second are handed to two workers that send sixty-five, and the rest piles up in the executor's queue.
 * names: executor-backlog|heap-growth Outbox.
 * flags: -Xmx64m
 * jfr: none
 */
package pools;

import incidents.Incident;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

public final class QueueGrows {
    static final class Outbox {
        private final ThreadPoolExecutor workers =
            new ThreadPoolExecutor(2, 2, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
        private final AtomicLong sent = new AtomicLong();

        void enqueue(long number) {
            workers.execute(() -> send(number));
        }

        private void send(long number) {
            try {
                Thread.sleep(30);
                sent.accumulateAndGet(number, Math::max);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** What the shop does: orders come, and each sends a few mails. */
    static final class Shop implements Runnable {
        private final Outbox outbox;
        private long number;

        Shop(Outbox outbox) {
            this.outbox = outbox;
        }

        @Override
        public void run() {
            for (int mail = 0; mail < 4; mail++) {
                outbox.enqueue(number++);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Outbox outbox = new Outbox();
        ScheduledExecutorService orders = Executors.newScheduledThreadPool(2);
        orders.scheduleAtFixedRate(new Shop(outbox), 0, 10, TimeUnit.MILLISECONDS);
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
