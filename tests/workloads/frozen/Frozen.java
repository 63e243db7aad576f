import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

/**
 * For each GO a virtual thread goes down DEPTH calls, and there and after each return leaves its carrier once and then wakes
 * a thread: a stack of each depth from 1 to DEPTH + 1, whose outer frames lie in the heap. Every fifth time the heap is
 * collected in between. Run it on 21 and later.
 */
public final class Frozen {
    private static final int DEPTH = 40;
    private static final int ROUNDS = 10;

    private static Thread other;
    private static int pauses;
    private static volatile Throwable failure;

    public static void main(String[] args) throws Exception {
        other = new Thread(() -> {
            while (true) {
                LockSupport.park();
            }
        });
        other.setDaemon(true);
        other.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            Thread thread = (Thread) Thread.class
                    .getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, (Runnable) Frozen::rounds);
            thread.join();
            if (failure != null) {
                throw new IllegalStateException(failure);
            }
            System.out.println("DONE rounds=" + ROUNDS + " depth=" + DEPTH);
        }
    }

    private static void rounds() {
        try {
            for (int round = 0; round < ROUNDS; round++) {
                if (down(DEPTH, 1, 2, 3, 4, 5, 6, 7) != DEPTH * 28L) {
                    throw new IllegalStateException("arguments were lost");
                }
            }
        } catch (Throwable e) {
            failure = e;
        }
    }

    /** More arguments than registers, so that some lie on the stack. */
    private static long down(int depth, long a, long b, long c, long d, long e, long f, long g) {
        long below = depth == 0 ? 0 : down(depth - 1, a, b, c, d, e, f, g) + a + b + c + d + e + f + g;
        Thread.yield();
        if (++pauses % 5 == 0) {
            System.gc();
        }
        LockSupport.unpark(other);
        return below;
    }
}
