/*
 * incident: Confirmations are handed to a single worker that takes 250 ms for each, while forty come in a second: the queue grows.
 * names: executor-backlog Smtp
 * jfr: none
 */
package queues;

import incidents.Incident;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public final class Mailing {
    /** The mail server. */
    static final class Smtp {
        private long delivered;

        void deliver(String to, String body) {
            handshake();
            delivered += to.length() + body.length();
        }

        private void handshake() {
            try {
                Thread.sleep(250);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private final ExecutorService worker = Executors.newSingleThreadExecutor(task -> new Thread(task, "mail-worker"));
    private final Smtp smtp = new Smtp();

    void confirm(int order) {
        worker.execute(() -> smtp.deliver("customer-" + order + "@example.org", "Thank you for order " + order));
    }

    private void takeOrders(AtomicInteger numbers) {
        for (int i = 0; i < 4; i++) {
            confirm(numbers.incrementAndGet());
        }
    }

    public static void main(String[] args) throws Exception {
        Mailing mailing = new Mailing();
        AtomicInteger numbers = new AtomicInteger();
        ScheduledExecutorService shop = Executors.newScheduledThreadPool(2);
        shop.scheduleAtFixedRate(() -> mailing.takeOrders(numbers), 0, 100, TimeUnit.MILLISECONDS);
        Thread.sleep(3000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
