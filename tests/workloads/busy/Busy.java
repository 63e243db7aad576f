import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;

/**
 * A busy program: two threads that allocate, look things up, compute, and now and then meet on one lock.
 * {@code Busy <operations per thread and GO>}; DONE tells the time that this fixed amount of work took.
 */
public final class Busy {
    private static final Object LOCK = new Object();
    private static final Map<Integer, String> SHARED = new HashMap<>();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        int operations = Integer.parseInt(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (int i = 0; i < 3; i++) {
            round(operations);
        }
        System.out.println("READY");
        while (in.readLine() != null) {
            long start = System.nanoTime();
            round(operations);
            long ns = System.nanoTime() - start;
            System.out.println("DONE operations=" + 2L * operations + " ns=" + ns);
        }
    }

    private static void round(int operations) throws InterruptedException {
        Thread[] threads = new Thread[2];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(new Work(i, operations), "busy-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static final class Work implements Runnable {
        private final int seed;
        private final int operations;

        Work(int seed, int operations) {
            this.seed = seed;
            this.operations = operations;
        }

        @Override
        public void run() {
            long value = seed;
            Map<Integer, String> own = new HashMap<>();
            for (int i = 0; i < operations; i++) {
                int key = (int) (value & 1023);
                String text = own.get(key);
                if (text == null || (i & 15) == 0) {
                    text = "value-" + value;
                    own.put(key, text);
                }
                for (int j = 0; j < 20; j++) {
                    value = value * 6364136223846793005L + text.length();
                }
                if ((i & 1023) == 0) {
                    synchronized (LOCK) {
                        SHARED.put(key, text);
                    }
                }
            }
            sink = value;
        }
    }
}
