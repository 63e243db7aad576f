import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * One thread ("spinner") computes all the time; for each GO another one ("sleeper") sleeps {@code Clock <sleeps>} times for
 * {@code <ms>} each. A third ("forever") waits without end.
 */
public final class Clock {
    private static final Object NEVER = new Object();
    private static volatile long sink;
    private static volatile long switches;

    public static void main(String[] args) throws Exception {
        int sleeps = Integer.parseInt(args[0]);
        int ms = Integer.parseInt(args[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        daemon("spinner", Clock::spin);
        System.out.println("READY");
        while (in.readLine() != null) {
            Thread forever = daemon("forever", Clock::waitForever);
            while (forever.getState() != Thread.State.WAITING) {
                Thread.yield();
            }
            Thread sleeper = new Thread(() -> sleep(sleeps, ms), "sleeper");
            sleeper.start();
            sleeper.join();
            System.out.println("DONE sleeps=" + sleeps + " switches=" + switches + " slept_ns=" + 1_000_000L * sleeps * ms);
        }
    }

    private static Thread daemon(String name, Runnable what) {
        Thread thread = new Thread(what, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void spin() {
        long value = 1;
        while (true) {
            for (int i = 0; i < 1000; i++) {
                value = value * 6364136223846793005L + i;
            }
            sink = value;
        }
    }

    private static void sleep(int times, int ms) {
        try {
            long before = voluntarySwitches();
            for (int i = 0; i < times; i++) {
                Thread.sleep(ms);
            }
            switches = voluntarySwitches() - before;
        } catch (InterruptedException interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }

    private static long voluntarySwitches() {
        try {
            for (String line : Files.readAllLines(Paths.get("/proc/thread-self/status"))) {
                if (line.startsWith("voluntary_ctxt_switches:")) {
                    return Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
                }
            }
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        throw new IllegalStateException("the kernel counts no switches");
    }

    private static void waitForever() {
        synchronized (NEVER) {
            while (true) {
                try {
                    NEVER.wait();
                } catch (InterruptedException interrupted) {
                    return;
                }
            }
        }
    }
}
