/**
 * Calls one method as often as it can: {@code Spin <steps per call> <milliseconds per GO>}. Each step is a load that waits for the
 * one before, so nothing makes a call shorter, and how often it was called says how fast the program was.
 */
public final class Spin {
    private static final long MS = 1_000_000;
    private static final int[] NEXT = new int[256];
    private static volatile long sink;

    static {
        for (int at = 0; at < NEXT.length; at++) NEXT[at] = at + 77 & NEXT.length - 1;
    }

    public static void main(String[] args) throws Exception {
        int steps = Integer.parseInt(args[0]);
        long ns = Long.parseLong(args[1]) * MS;
        Session.serve(session -> session.expect("calls", "Spin.step", spin(steps, ns)));
    }

    private static long spin(int steps, long ns) {
        long begin = System.nanoTime();
        long calls = 0;
        int at = 0;
        while (System.nanoTime() - begin < ns) {
            for (int i = 0; i < 10_000; i++) {
                at = step(at, steps);
            }
            calls += 10_000;
        }
        sink = at;
        return calls;
    }

    static int step(int at, int steps) {
        for (int i = 0; i < steps; i++) at = NEXT[at];
        return at;
    }
}
