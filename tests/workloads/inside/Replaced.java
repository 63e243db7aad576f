import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that come and go and are nearly always in one method, each for a moment, while collections free what nobody needs:
 * old versions of methods, and what JVMTI keeps of threads. Ends when standard input closes.
 */
public final class Replaced {
    private static final int THREADS = 100;
    private static final int CALLS = 20;
    private static final long LONGEST_NS = 20_000_000;

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < THREADS; i++) {
            start("next-" + i, Replaced::replace);
        }
        start("cleaner", () -> {
            while (true) {
                System.gc();
            }
        });
        System.out.println("READY");
        System.out.flush();
        while (System.in.read() >= 0) {
            // Nobody says anything but that it is over.
        }
    }

    /** Works for a while, then starts the thread that goes on. */
    private static void replace() {
        for (int call = 0; call < CALLS; call++) {
            hold();
        }
        start("next", Replaced::replace);
    }

    static void hold() {
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(LONGEST_NS));
    }

    private static void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }
}
