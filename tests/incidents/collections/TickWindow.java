/*
 * incident: All ticks of the last seconds are kept in a window, so that each of them is copied by several collections before it dies.
 * names: gc-share|cpu-gc|gc-long-pause|gc-full|heap-nearly-full Tick
 * flags: -Xmx256m
 * load: cpu
 * jfr: jdk.GarbageCollection Pause
 */
package collections;

import incidents.Incident;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class TickWindow {
    static final class Tick {
        private final long time;
        private final Long price;
        private final String symbol;

        Tick(long time, long price, String symbol) {
            this.time = time;
            this.price = price;
            this.symbol = symbol;
        }
    }

    private final Deque<Tick> window = new ArrayDeque<>();
    private final int size;

    TickWindow(int size) {
        this.size = size;
    }

    private void add(Tick tick) {
        window.addLast(tick);
        if (window.size() > size) {
            window.removeFirst();
        }
    }

    private void feed() {
        for (long time = 0; ; time++) {
            add(new Tick(time, 100_000 + time % 977, "S" + time % 5000));
            if (time % 200_000 == 0) {
                last();
            }
        }
    }

    private long last() {
        Tick tick = window.getLast();
        return tick.time + tick.price + tick.symbol.length();
    }

    public static void main(String[] args) throws Exception {
        TickWindow ticks = new TickWindow(1_500_000);
        Thread feed = new Thread(ticks::feed, "feed");
        feed.setDaemon(true);
        feed.start();
        ExecutorService charts = Executors.newFixedThreadPool(2);
        charts.submit(System::nanoTime);
        Thread.sleep(2500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
