/**
 * Calls one method at a steady rate: {@code Paced <calls per second> <milliseconds per GO>}. What falls behind is caught up
 * within each millisecond, so the number of calls is known; a rate of 0 is as fast as it goes, for as long.
 */
public final class Paced {
    private static final long MS = 1_000_000;
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
        for (long slot = 1; slot <= milliseconds; slot++) {
            for (; calls < perSecond * slot / 1000; calls++) {
                step();
            }
            while (System.nanoTime() - begin < slot * MS) {
                Thread.sleep(1);
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
