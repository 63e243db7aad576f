/*
 * incident: The consumer asks an empty queue without a pause, and yields in between, instead of waiting for an order.
 * names: spinning OrderFeed.nextOrder
 * load: cpu
 * jfr: jdk.ExecutionSample OrderFeed.nextOrder
 */
package spinning;

import incidents.Incident;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

public final class OrderFeed {
    private final Queue<String> orders = new ConcurrentLinkedQueue<>();
    private long shipped;

    private String nextOrder() {
        String order = orders.poll();
        while (order == null) {
            Thread.yield();
            order = orders.poll();
        }
        return order;
    }

    private void ship() {
        while (true) {
            shipped += nextOrder().length();
        }
    }

    private void receive() {
        try {
            for (int number = 1; ; number++) {
                orders.add("order-" + number);
                Thread.sleep(25);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        OrderFeed feed = new OrderFeed();
        Thread shipping = new Thread(feed::ship, "shipping");
        shipping.setDaemon(true);
        shipping.start();
        new Thread(feed::receive, "receiver").start();
        Thread.sleep(500);
        Incident.ready();
        while (feed.shipped >= 0) {
            Thread.sleep(1000);
        }
    }
}
