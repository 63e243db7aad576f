/*
 * incident: Closing an order locks order and customer, renaming a customer locks them the other way round, and both wait for ever.
 * names: deadlock Customer.
 * jfr: jdk.ThreadDump Java-level deadlock
 */
package deadlocks;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

public final class TwoMonitors {
    static final class Customer {
        private final List<Order> orders = new ArrayList<>();
        private String name = "Ada";
        private int closed;

        synchronized void rename(String to, CountDownLatch both) throws InterruptedException {
            name = to;
            meet(both);
            for (Order order : orders) {
                order.print(name);
            }
        }

        synchronized void orderClosed() {
            closed++;
        }

        synchronized int closed() {
            return closed;
        }
    }

    static final class Order {
        private final Customer customer;
        private String label = "";

        Order(Customer customer) {
            this.customer = customer;
            customer.orders.add(this);
        }

        synchronized void close(CountDownLatch both) throws InterruptedException {
            label = label + "*";
            meet(both);
            customer.orderClosed();
        }

        synchronized void print(String name) {
            label = name;
        }
    }

    /** Both are inside of their first monitor. */
    private static void meet(CountDownLatch both) throws InterruptedException {
        both.countDown();
        both.await();
    }

    interface Step {
        void run() throws InterruptedException;
    }

    private static void start(String name, Step step) {
        Thread thread = new Thread(() -> {
            try {
                step.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        Customer customer = new Customer();
        Order order = new Order(customer);
        CountDownLatch both = new CountDownLatch(2);
        start("closing", () -> order.close(both));
        start("renaming", () -> customer.rename("Grace", both));
        Thread.sleep(200);
        for (int i = 0; i < 3; i++) {
            start("dashboard-" + i, () -> customer.closed());
        }
        start("heartbeat", () -> {
            while (true) {
                Thread.sleep(100);
            }
        });
        Thread.sleep(200);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
