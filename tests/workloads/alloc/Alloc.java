import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Allocates a known number of bytes for each GO: 2 GiB of payload in byte[1024] (1,040 bytes each on the heap) and
 * 512 MiB of Blob (64 bytes each). Every object escapes, so that no compiler can take it away.
 * `LENGTH ARRAYS BLOBS` asks for arrays of another length, and for other numbers of both.
 */
public final class Alloc {
    /** Six longs: 64 bytes on the heap, with compressed class pointers and without. */
    private static final class Blob {
        long a;
        long b;
        long c;
        long d;
        long e;
        long f;
    }

    private static int length = 1024;
    private static int wantedArrays = 2 * 1024 * 1024;
    private static int wantedBlobs = 8 * 1024 * 1024;
    private static final Object[] SINK = new Object[1024];

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        if (args.length == 3) {
            length = Integer.parseInt(args[0]);
            wantedArrays = Integer.parseInt(args[1]);
            wantedBlobs = Integer.parseInt(args[2]);
        }
        work(wantedArrays / 64, wantedBlobs / 64);
        System.out.println("READY");
        while (in.readLine() != null) {
            work(wantedArrays, wantedBlobs);
            long arrays = wantedArrays * (length + 16L);
            long blobs = wantedBlobs * 64L;
            System.out.println("DONE array_bytes=" + arrays + " blob_bytes=" + blobs + " bytes=" + (arrays + blobs));
        }
    }

    private static void work(int arrays, int blobs) {
        // Both kinds come in random order, as in a program. In a fixed order every TLAB, whose sizes are multiples of the
        // period, would end at the same kind of object.
        long random = 88172645463325252L;
        while (arrays + blobs > 0) {
            random ^= random << 13;
            random ^= random >>> 7;
            random ^= random << 17;
            int slot = (int) (random & 1023);
            if ((random >>> 1) % (arrays + blobs) < arrays) {
                SINK[slot] = new byte[length];
                arrays--;
            } else {
                SINK[slot] = new Blob();
                blobs--;
            }
        }
    }
}
