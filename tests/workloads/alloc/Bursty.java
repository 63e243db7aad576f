import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Allocates in bursts and says how much: {@code Bursty <KiB per ms> <ms on> <ms off> <ms per GO>}. While it is on it makes arrays of
 * 512 bytes, of which it knows what they take; what falls behind is caught up. With 0 ms off it is steady. Every array escapes.
 */
public final class Bursty {
    private static final long MS = 1_000_000;
    private static final int LENGTH = 496;
    /** With the 16 bytes before the elements. */
    private static final int BYTES = LENGTH + 16;
    private static final Object[] SINK = new Object[256];

    private Bursty() {}

    public static void main(String[] args) throws Exception {
        long perMs = Long.parseLong(args[0]) * 1024;
        long on = Long.parseLong(args[1]);
        long off = Long.parseLong(args[2]);
        long milliseconds = Long.parseLong(args[3]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        work(perMs, on, off, 1000);
        System.out.println("READY");
        while (in.readLine() != null) {
            System.out.println("DONE bytes=" + work(perMs, on, off, milliseconds));
        }
    }

    private static long work(long perMs, long on, long off, long milliseconds) throws InterruptedException {
        long begin = System.nanoTime();
        long wanted = 0;
        long made = 0;
        for (long ms = 0; ms < milliseconds; ms++) {
            if (ms % (on + off) < on) {
                wanted += perMs;
            }
            for (; made < wanted; made += BYTES) {
                SINK[(int) (made / BYTES) & (SINK.length - 1)] = new byte[LENGTH];
            }
            long left = begin + (ms + 1) * MS - System.nanoTime();
            if (left > MS) {
                Thread.sleep(left / MS);
            }
        }
        return made;
    }
}
