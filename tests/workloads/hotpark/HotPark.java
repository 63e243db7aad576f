import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

/**
 * Parks about 200,000 times a second on one thread: it gives itself the permit and takes it at once, then computes for some
 * microseconds. {@code HotPark <iterations per GO> <parks per second>}; DONE tells the time that the iterations took.
 */
public final class HotPark {
    /** Iterations by which the number of steps is found. Each program of this kind spends a second on that before it is asked anything. */
    private static final int CALIBRATED = 20_000;
    private static long state = 1;

    public static void main(String[] args) throws Exception {
        int iterations = Integer.parseInt(args[0]);
        long rate = Long.parseLong(args[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int steps = calibrate(rate);
        System.out.println("READY");
        while (in.readLine() != null) {
            long ns = run(iterations, steps);
            System.out.println("DONE parks=" + iterations + " ns=" + ns + " rate_per_s=" + iterations * 1_000_000_000L / ns);
        }
    }

    /** Finds the number of computing steps after which the wanted rate comes out; fixed from then on. */
    private static int calibrate(long rate) {
        int steps = 1000;
        for (int round = 0; round < 8; round++) {
            long each = run(CALIBRATED, steps) / CALIBRATED;
            steps = (int) Math.max(1, Math.min(100_000, steps * (1_000_000_000L / rate) / Math.max(1, each)));
        }
        return steps;
    }

    private static long run(int iterations, int steps) {
        Thread self = Thread.currentThread();
        long start = System.nanoTime();
        for (int i = 0; i < iterations; i++) {
            LockSupport.unpark(self);
            LockSupport.park();
            compute(steps);
        }
        return System.nanoTime() - start;
    }

    private static void compute(int steps) {
        long value = state;
        for (int i = 0; i < steps; i++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
        }
        state = value;
    }
}
