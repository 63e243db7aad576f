import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

/** For each GO starts exactly 40 threads that end ("worker-N") and 15 that stay ("leak-pool-3-thread-N"). */
public final class Threads {
    private static final int ENDING = 40;
    private static final int STAYING = 15;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Runner warm = new Runner(false);
        end(new Thread(warm, "warm-up"));
        System.out.println("READY");
        while (in.readLine() != null) {
            for (int i = 0; i < ENDING; i++) {
                end(new Thread(new Runner(false), "worker-" + i));
            }
            for (int i = 0; i < STAYING; i++) {
                Runner runner = new Runner(true);
                Thread thread = new Thread(runner, "leak-pool-3-thread-" + i);
                thread.setDaemon(true);
                thread.start();
                while (!runner.running) {
                    pause();
                }
            }
            System.out.println("DONE started=" + (ENDING + STAYING) + " stopped=" + ENDING + " staying=" + STAYING);
        }
    }

    private static void end(Thread thread) {
        thread.start();
        while (thread.getState() != Thread.State.TERMINATED) {
            pause();
        }
    }

    private static final class Runner implements Runnable {
        private final boolean stay;
        private volatile boolean running;

        Runner(boolean stay) {
            this.stay = stay;
        }

        @Override
        public void run() {
            running = true;
            while (stay) {
                LockSupport.park();
            }
        }
    }

    /** A turn of a loop that waits; the hint for that came with 9. */
    private static void pause() {}
}
