/*
 * incident: Ten checkouts reserve stock through one synchronized method that keeps the whole warehouse for 4 ms each time.
 * names: lock-contention|lock-chain Warehouse.reserve
 * jfr: jdk.JavaMonitorEnter Warehouse.reserve
 */
package locks;

import incidents.Incident;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class HotMonitor {
    /** Stock by article, and a price check against a slow table. */
    static final class Warehouse {
        private final Map<String, Integer> stock = new TreeMap<>();
        private long checks;

        synchronized int reserve(String article, int pieces) throws InterruptedException {
            int left = stock.merge(article, -pieces, Integer::sum);
            checkPrices(article);
            if (left < -10_000) {
                stock.remove(article);
            }
            return left;
        }

        private void checkPrices(String article) throws InterruptedException {
            for (int i = 0; i < 400; i++) {
                checks += article.hashCode() ^ i;
            }
            TimeUnit.MILLISECONDS.sleep(4);
        }
    }

    private final Warehouse warehouse = new Warehouse();

    private final class Checkout extends Thread {
        private final int till;

        Checkout(int till) {
            super("till-" + till);
            this.till = till;
        }

        @Override
        public void run() {
            try {
                for (int cart = 0; !isInterrupted(); cart++) {
                    pay(cart);
                }
            } catch (InterruptedException e) {
                interrupt();
            }
        }

        private void pay(int cart) throws InterruptedException {
            for (int line = 0; line < 3; line++) {
                warehouse.reserve("article-" + (cart + line + till) % 200, 1);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        HotMonitor shop = new HotMonitor();
        for (int till = 1; till <= 10; till++) {
            shop.new Checkout(till).start();
        }
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        clock.scheduleAtFixedRate(System::currentTimeMillis, 0, 200, TimeUnit.MILLISECONDS);
        Thread.sleep(300);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
