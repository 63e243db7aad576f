/**
 * Calls one method at a steady rate: {@code Paced <calls per second> <milliseconds per GO>}. What falls behind is caught up
 * within each slot of 5 ms, so the number of calls is known; a rate of 0 is as fast as it goes, for as long.
 */
public final class Paced {
    private static final long MS = 1_000_000;
    /** Long enough that the JDK's own methods, which find the time and sleep, are few beside {@code step}. */
    private static final long SLOT_MS = 5;
    private static long sink;

    public static void main(String[] args) throws Exception {
        long perSecond = Long.parseLong(args[0]);
        long milliseconds = Long.parseLong(args[1]);
        Session.serve(session -> {
            long calls = perSecond == 0 ? flatOut(milliseconds * MS) : paced(perSecond, milliseconds);
            session.expect("calls", "Paced.step", calls);
            session.expect("errors", "Paced.step", 0);
        });
    }

    private static long paced(long perSecond, long milliseconds) throws InterruptedException {
        long begin = System.nanoTime();
        long calls = 0;
        for (long ms = SLOT_MS; ms <= milliseconds; ms += SLOT_MS) {
            for (; calls < perSecond * ms / 1000; calls++) {
                step();
            }
            long left = begin + ms * MS - System.nanoTime();
            if (left > MS) {
                Thread.sleep(left / MS);
            }
        }
        return calls;
    }

    private static long flatOut(long ns) {
        long begin = System.nanoTime();
        long calls = 0;
        while (System.nanoTime() - begin < ns) {
            for (int i = 0; i < 1000; i++) {
                step();
            }
            calls += 1000;
        }
        return calls;
    }

    static void step() {
        sink++;
    }
}
