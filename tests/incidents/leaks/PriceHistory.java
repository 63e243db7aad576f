/*
 * incident: Each quote is kept under the time of its arrival, in a static map that nobody takes anything out of. The heap is large, and nothing is collected for hours.
 * names: collection-grows Quotes.BY_TIME
 * flags: -Xmx1g
 * jfr: none
 */
package leaks;

import incidents.Incident;
import java.util.TreeMap;

public final class PriceHistory {
    static final class Quotes {
        private static final TreeMap<Long, Double> BY_TIME = new TreeMap<>();

        static synchronized void keep(long time, double price) {
            BY_TIME.put(time, price);
        }
    }

    private static void listen() {
        try {
            for (long tick = 0; ; tick++) {
                Quotes.keep(System.nanoTime(), 100 + tick % 7);
                Thread.sleep(4);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(PriceHistory::listen, "market-feed").start();
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
