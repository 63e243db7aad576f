/*
 * incident: Orders and customers are joined by comparing each with each: 3000 times 3000 comparisons for one report.
 * names: cpu-hot-line|cpu-hot-method NestedLoops.customerOf
 * load: cpu
 * jfr: jdk.ExecutionSample NestedLoops
 */
import incidents.Incident;
import java.util.concurrent.atomic.AtomicLong;

public final class NestedLoops {
    static final class Customer {
        private final long id;
        private long turnover;

        Customer(long id) {
            this.id = id;
        }
    }

    static final class Order {
        private final long customer;
        private final long cents;

        Order(long customer, long cents) {
            this.customer = customer;
            this.cents = cents;
        }
    }

    private final Customer[] customers = new Customer[3000];
    private final Order[] orders = new Order[3000];
    private final AtomicLong reports = new AtomicLong();

    NestedLoops() {
        for (int i = 0; i < customers.length; i++) {
            customers[i] = new Customer(i * 7L);
            orders[i] = new Order((i * 31L % 3000) * 7, i);
        }
    }

    private Customer customerOf(Order order) {
        for (Customer customer : customers) {
            if (customer.id == order.customer) {
                return customer;
            }
        }
        return null;
    }

    private void report() {
        for (Order order : orders) {
            customerOf(order).turnover += order.cents;
        }
        reports.incrementAndGet();
    }

    public static void main(String[] args) throws Exception {
        NestedLoops shop = new NestedLoops();
        new Thread(() -> {
            while (shop.reports.get() >= 0) {
                shop.report();
            }
        }, "reports").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
