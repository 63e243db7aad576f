/**
 * Calls one method as often as it can: {@code Spin <multiplications per call> <milliseconds per GO>}. Each multiplication waits for the
 * one before, so a call takes some nanoseconds, and how often it was called says how fast the program was.
 */
public final class Spin {
    private static final long MS = 1_000_000;
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        int multiplications = Integer.parseInt(args[0]);
        long ns = Long.parseLong(args[1]) * MS;
        Session.serve(session -> session.expect("calls", "Spin.step", spin(multiplications, ns)));
    }

    private static long spin(int multiplications, long ns) {
        long begin = System.nanoTime();
        long calls = 0;
        long value = begin;
        while (System.nanoTime() - begin < ns) {
            for (int i = 0; i < 10_000; i++) {
                value = step(value, multiplications);
            }
            calls += 10_000;
        }
        sink = value;
        return calls;
    }

    static long step(long value, int multiplications) {
        for (int i = 0; i < multiplications; i++) {
            value = value * 0x5851f42d4c957f2dL + 1;
        }
        return value;
    }
}
