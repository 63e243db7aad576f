import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * For each GO the same piece of work: 5 loaders with a copy of {@link Loaded} each, which are dropped again; 4 threads that contend
 * for a monitor, iterate, allocate, park and end; a collection; and calls. Names are the same each time, so nothing that jtrace keeps
 * by name has a reason to grow.
 */
public final class Soak {
    private static final int LOADERS = 5;
    private static final int THREADS = 4;
    private static final int CALLS = 2_000;
    private static final Object MONITOR = new Object();
    private static long sink;

    public static void main(String[] args) throws Exception {
        byte[] copy;
        try (InputStream in = Soak.class.getResourceAsStream("Soak$Loaded.class")) {
            copy = in.readAllBytes();
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            for (int i = 0; i < LOADERS; i++) {
                Class<?> loaded = new Own(copy).define();
                sink += (Integer) loaded.getMethod("value").invoke(null);
            }
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Thread thread = new Thread(Soak::work, "soak-" + i);
                thread.start();
                threads.add(thread);
            }
            for (Thread thread : threads) {
                thread.join();
            }
            for (int i = 0; i < CALLS; i++) {
                sink += step(i);
            }
            System.gc();
            System.out.println("DONE loaders=" + LOADERS + " threads=" + THREADS + " calls=" + CALLS);
        }
    }

    static int step(int i) {
        return i & 7;
    }

    private static void work() {
        for (int i = 0; i < 10; i++) {
            synchronized (MONITOR) {
                sink += iterate(i);
            }
            byte[] waste = new byte[10_000];
            sink += waste.length;
            LockSupport.parkNanos(1_000);
        }
    }

    private static int iterate(int seed) {
        List<Integer> list = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            list.add(seed + i);
        }
        int sum = 0;
        for (Iterator<Integer> all = list.iterator(); all.hasNext();) {
            sum += all.next();
        }
        return sum;
    }

    /** Is loaded again and again. */
    public static final class Loaded {
        public static int value() {
            return 42;
        }
    }

    private static final class Own extends ClassLoader {
        private final byte[] copy;

        Own(byte[] copy) {
            super(null);
            this.copy = copy;
        }

        Class<?> define() {
            return defineClass("Soak$Loaded", copy, 0, copy.length);
        }
    }
}
