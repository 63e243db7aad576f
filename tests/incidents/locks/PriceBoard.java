/*
 * incident: One ReentrantLock guards the price board, and whoever finds a stale price fetches a new one while holding it.
 * names: lock-queue PriceBoard.price
 * jfr: jdk.ThreadPark PriceBoard.price
 */
package locks;

import incidents.Incident;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** Prices for all desks, refreshed when they are older than a moment. */
public final class PriceBoard {
    interface Source {
        long fetch(String symbol) throws InterruptedException;
    }

    private static final long FRESH_NS = TimeUnit.MILLISECONDS.toNanos(150);

    private final Lock lock = new ReentrantLock();
    private final Map<String, Long> prices = new HashMap<>();
    private final Map<String, Long> fetched = new HashMap<>();
    private final Source source;

    PriceBoard(Source source) {
        this.source = source;
    }

    long price(String symbol) throws InterruptedException {
        lock.lock();
        try {
            Long last = fetched.get(symbol);
            if (last == null || System.nanoTime() - last > FRESH_NS) {
                prices.put(symbol, source.fetch(symbol));
                fetched.put(symbol, System.nanoTime());
            }
            return prices.get(symbol);
        } finally {
            lock.unlock();
        }
    }

    /** A desk that looks at all of its symbols. */
    static final class Desk extends Thread {
        private final PriceBoard board;
        private final List<String> symbols;
        private long total;

        Desk(String name, PriceBoard board, List<String> symbols) {
            super(name);
            this.board = board;
            this.symbols = symbols;
        }

        @Override
        public void run() {
            try {
                while (!isInterrupted()) {
                    for (String symbol : symbols) {
                        total += board.price(symbol);
                    }
                }
            } catch (InterruptedException e) {
                System.err.println(getName() + " stops at " + total);
            }
        }
    }

    private static long exchange(String symbol) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(70);
        return symbol.hashCode() & 0xfff;
    }

    public static void main(String[] args) throws Exception {
        PriceBoard board = new PriceBoard(PriceBoard::exchange);
        List<String> symbols = List.of("SAP", "DTE", "ALV", "BAS", "BMW");
        for (String city : List.of("london", "paris", "zurich", "milan", "oslo", "vienna")) {
            new Desk("desk-" + city, board, symbols).start();
        }
        Executors.newScheduledThreadPool(3).scheduleAtFixedRate(System::nanoTime, 1, 1, TimeUnit.SECONDS);
        Thread.sleep(400);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
