import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Thousands of threads that park 20 times a second each, and compute a little in between: more than the machine has CPUs for, so that
 * hundreds of them are runnable at any time. {@code Crowd <threads> <steps>}; they begin when a line comes, and each line prints how
 * often they have parked so far.
 */
public final class Crowd {
    private static final long PARK_NS = 50_000_000;
    private static final LongAdder parks = new LongAdder();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int steps = Integer.parseInt(args[1]);
        CountDownLatch begun = new CountDownLatch(1);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(null, () -> run(begun, steps), "crowd-" + i, 128 << 10);
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            begun.countDown();
            System.out.println("DONE parks=" + parks.sum());
        }
        System.exit(0);
    }

    private static void run(CountDownLatch begun, int steps) {
        try {
            begun.await();
        } catch (InterruptedException e) {
            return;
        }
        long value = 1;
        while (true) {
            LockSupport.parkNanos(PARK_NS);
            parks.increment();
            for (int i = 0; i < steps; i++) {
                value = value * 6364136223846793005L + 1442695040888963407L;
            }
            sink = value;
        }
    }
}
