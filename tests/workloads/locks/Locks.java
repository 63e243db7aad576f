import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.locks.LockSupport;

/**
 * Monitors and parking with known counts: {@code Locks contended 500}, {@code Locks wait 200}, {@code Locks park 300}.
 *
 * Two threads take turns by volatile counters that they spin on, so that the handshake itself neither parks, waits nor
 * blocks. Each of the other thread's steps is observed through Thread.getState(), never assumed after a delay. That it blocks
 * the kernel must say as well: by then it has come to the end of its spinning, and to all that is told of its beginning to wait.
 */
public final class Locks {
    /** The class of the contended object, so that the name can be looked for. */
    private static final class Cart {}

    private static final Cart CART = new Cart();
    private static volatile int asked;
    private static volatile int answered;
    private static volatile boolean ended;
    private static volatile boolean released;
    private static volatile int parks;
    /** What the kernel says of the partner. */
    private static RandomAccessFile sleeper;

    public static void main(String[] args) throws Exception {
        final String kind = args[0];
        int count = Integer.parseInt(args[1]);
        Thread other = new Thread(null, new Runnable() {
            @Override
            public void run() {
                answer(kind);
            }
        }, "lock-partner");
        other.setDaemon(true);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        other.start();
        sleeper = stat(other.getName());
        ask(kind, other, 3);
        System.out.println("READY");
        while (in.readLine() != null) {
            parks = 0;
            long[] held = ask(kind, other, count);
            if (kind.equals("contended")) {
                System.out.println("DONE contended_enters=" + count + " held_ns=" + held[0] + " rounds_ns=" + held[1]);
            } else if (kind.equals("wait")) {
                System.out.println("DONE waits=" + count + " notifies=" + count);
            } else {
                System.out.println("DONE parks=" + parks + " unparks=" + count + " asked=" + count);
            }
        }
        ended = true;
        while (other.getState() != Thread.State.TERMINATED) {
            pause();
        }
    }

    /** Makes the partner do `count` steps; gives the time held while it was seen to block, and the time of all rounds. */
    private static long[] ask(String kind, Thread other, int count) throws IOException {
        long held = 0;
        long rounds = 0;
        for (int i = 0; i < count; i++) {
            int turn = asked + 1;
            long start = System.nanoTime();
            if (kind.equals("contended")) {
                synchronized (CART) {
                    asked = turn;
                    await(other, Thread.State.BLOCKED);
                    awaitSleep();
                    held += hold(200_000);
                }
            } else if (kind.equals("wait")) {
                released = false;
                asked = turn;
                await(other, Thread.State.WAITING);
                synchronized (CART) {
                    released = true;
                    CART.notify();
                }
            } else {
                released = false;
                asked = turn;
                await(other, Thread.State.WAITING);
                released = true;
                LockSupport.unpark(other);
            }
            while (answered != turn) {
                pause();
            }
            rounds += System.nanoTime() - start;
        }
        return new long[] {held, rounds};
    }

    private static void answer(String kind) {
        while (true) {
            while (asked == answered) {
                if (ended) {
                    return;
                }
                pause();
            }
            if (kind.equals("contended")) {
                synchronized (CART) {
                    parks = 0;
                }
            } else if (kind.equals("wait")) {
                synchronized (CART) {
                    while (!released) {
                        try {
                            CART.wait();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    }
                }
            } else {
                while (!released) {
                    parks = parks + 1;
                    LockSupport.park();
                }
            }
            answered = asked;
        }
    }

    private static void await(Thread other, Thread.State state) {
        while (other.getState() != state) {
            pause();
        }
    }

    /** Waits until the kernel says that the partner sleeps. */
    private static void awaitSleep() throws IOException {
        byte[] text = new byte[256];
        while (true) {
            sleeper.seek(0);
            String stat = new String(text, 0, sleeper.read(text));
            // The name before it may hold spaces and parentheses.
            if (stat.startsWith(" S ", stat.lastIndexOf(')') + 1)) {
                return;
            }
            pause();
        }
    }

    /** The file in which the kernel tells of a thread; it has its name a moment after it was started. */
    private static RandomAccessFile stat(String name) throws IOException {
        while (true) {
            try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Paths.get("/proc/self/task"))) {
                for (Path task : tasks) {
                    Path comm = task.resolve("comm");
                    if (Files.exists(comm) && new String(Files.readAllBytes(comm)).trim().equals(name)) {
                        return new RandomAccessFile(task.resolve("stat").toFile(), "r");
                    }
                }
            }
            pause();
        }
    }

    private static long hold(long ns) {
        long start = System.nanoTime();
        long now = start;
        while (now - start < ns) {
            now = System.nanoTime();
        }
        return now - start;
    }

    /** A turn of a loop that waits; the hint for that came with 9. */
    private static void pause() {}
}
