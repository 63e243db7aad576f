import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * For each GO allocates 1 GiB in byte[65520] (64 KiB each on the heap) and as much in Small (64 bytes each), in random order: a
 * buffer that does not fit into what is left of a TLAB is put elsewhere, and the TLAB is used up by small objects.
 */
public final class Buffers {
    /** Six longs: 64 bytes on the heap, with compressed class pointers and without. */
    private static final class Small {
        long a;
        long b;
        long c;
        long d;
        long e;
        long f;
    }

    private static final int BUFFERS = 16 * 1024;
    private static final int SMALL = 16 * 1024 * 1024;
    private static final Object[] SINK = new Object[64];

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        work(BUFFERS / 64, SMALL / 64);
        System.out.println("READY");
        while (in.readLine() != null) {
            work(BUFFERS, SMALL);
            System.out.println("DONE buffer_bytes=" + BUFFERS * 65536L + " small_bytes=" + SMALL * 64L);
        }
    }

    private static void work(int buffers, int small) {
        long random = 88172645463325252L;
        while (buffers + small > 0) {
            random ^= random << 13;
            random ^= random >>> 7;
            random ^= random << 17;
            int slot = (int) (random & 63);
            if ((random >>> 1) % (buffers + small) < buffers) {
                SINK[slot] = new byte[65520];
                buffers--;
            } else {
                SINK[slot] = new Small();
                small--;
            }
        }
    }
}
