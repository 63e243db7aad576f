/*
 * incident: Each request ends the search through the tree of tariffs with an exception, which is made 80 calls deep.
 * names: exceptions NotForSale
 * load: cpu
 * jfr: jdk.ExecutionSample ControlFlow
 */
import incidents.Incident;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

public final class ControlFlow {
    static final class NotForSale extends Exception {
        NotForSale(String message) {
            super(message);
        }
    }

    /** A tariff, and the one that it is derived from. */
    static final class Tariff {
        private final int id;
        private final Tariff base;

        Tariff(int id, Tariff base) {
            this.id = id;
            this.base = base;
        }
    }

    private final AtomicLong refused = new AtomicLong();

    private boolean offer(Tariff tariff, int article) {
        try {
            return priceOf(tariff, article) > 0;
        } catch (NotForSale e) {
            refused.incrementAndGet();
            return false;
        }
    }

    private int priceOf(Tariff tariff, int article) throws NotForSale {
        if (tariff.base == null) {
            return refuse(article);
        }
        return priceOf(tariff.base, article) + tariff.id;
    }

    private static int refuse(int article) throws NotForSale {
        throw new NotForSale("article " + article);
    }

    public static void main(String[] args) throws Exception {
        Tariff tariff = null;
        for (int i = 0; i < 80; i++) {
            tariff = new Tariff(i, tariff);
        }
        Tariff last = tariff;
        ControlFlow shop = new ControlFlow();
        ScheduledExecutorService statistics = Executors.newSingleThreadScheduledExecutor();
        statistics.scheduleAtFixedRate(shop.refused::get, 1, 1, TimeUnit.SECONDS);
        Thread requests = new Thread(() -> {
            for (int article = 0; ; article++) {
                shop.offer(last, article);
            }
        }, "requests");
        requests.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
