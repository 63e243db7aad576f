import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.locks.LockSupport;

/**
 * Monitors and parking with known counts: {@code Locks contended 500}, {@code Locks wait 200}, {@code Locks park 300}.
 *
 * Two threads take turns by pipes, so that the handshake itself neither parks, waits nor blocks: who reads from a pipe sleeps in the
 * kernel, which no lens counts. If it spun instead, each program that stands still would take a CPU from all others, and where CPUs
 * are few each turn would wait until the one that spins has used up its time. Each of the other thread's steps is observed through
 * Thread.getState(), never assumed after a delay. That it blocks the kernel must say as well: by then it has come to the end of its
 * spinning, and to all that is told of its beginning to wait.
 */
public final class Locks {
    /** The class of the contended object, so that the name can be looked for. */
    private static final class Cart {}

    private static final Cart CART = new Cart();
    /** How often is looked what the partner does before the CPU is left to others. */
    private static final int LOOKS = 1000;
    private static volatile boolean released;
    private static volatile int parks;
    private static Pipe turns;
    private static Pipe answers;
    /** Has nothing to wait for but time. */
    private static Selector clock;
    /** What the kernel says of the partner. */
    private static RandomAccessFile sleeper;

    public static void main(String[] args) throws Exception {
        final String kind = args[0];
        int count = Integer.parseInt(args[1]);
        turns = Pipe.open();
        answers = Pipe.open();
        clock = Selector.open();
        Thread other = new Thread(null, new Runnable() {
            @Override
            public void run() {
                serve(kind);
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
        turns.sink().close();
        await(other, Thread.State.TERMINATED);
    }

    /** Makes the partner do `count` steps; gives the time held while it was seen to block, and the time of all rounds. */
    private static long[] ask(String kind, Thread other, int count) throws IOException {
        long held = 0;
        long rounds = 0;
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            if (kind.equals("contended")) {
                synchronized (CART) {
                    tell(turns);
                    await(other, Thread.State.BLOCKED);
                    awaitSleep();
                    held += hold(200_000);
                }
            } else if (kind.equals("wait")) {
                released = false;
                tell(turns);
                await(other, Thread.State.WAITING);
                synchronized (CART) {
                    released = true;
                    CART.notify();
                }
            } else {
                released = false;
                tell(turns);
                await(other, Thread.State.WAITING);
                released = true;
                LockSupport.unpark(other);
            }
            hear(answers);
            rounds += System.nanoTime() - start;
        }
        return new long[] {held, rounds};
    }

    private static void serve(String kind) {
        try {
            while (hear(turns)) {
                answer(kind);
                tell(answers);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void answer(String kind) {
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
    }

    private static void tell(Pipe pipe) throws IOException {
        pipe.sink().write(ByteBuffer.allocate(1));
    }

    /** Sleeps until somebody tells; false: nobody will any more. */
    private static boolean hear(Pipe pipe) throws IOException {
        return pipe.source().read(ByteBuffer.allocate(1)) == 1;
    }

    private static void await(Thread other, Thread.State state) throws IOException {
        for (int look = 1; other.getState() != state; look++) {
            pause(look);
        }
    }

    /** Waits until the kernel says that the partner sleeps. */
    private static void awaitSleep() throws IOException {
        byte[] text = new byte[256];
        for (int look = 1; ; look++) {
            sleeper.seek(0);
            String stat = new String(text, 0, sleeper.read(text));
            // The name before it may hold spaces and parentheses.
            if (stat.startsWith(" S ", stat.lastIndexOf(')') + 1)) {
                return;
            }
            pause(look);
        }
    }

    /** The file in which the kernel tells of a thread; it has its name a moment after it was started. */
    private static RandomAccessFile stat(String name) throws IOException {
        for (int look = 1; ; look++) {
            try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Paths.get("/proc/self/task"))) {
                for (Path task : tasks) {
                    Path comm = task.resolve("comm");
                    if (Files.exists(comm) && new String(Files.readAllBytes(comm)).trim().equals(name)) {
                        return new RandomAccessFile(task.resolve("stat").toFile(), "r");
                    }
                }
            }
            pause(look);
        }
    }

    /** A turn of a loop that waits for the partner, which may need this CPU. */
    private static void pause(int look) throws IOException {
        if (look % LOOKS == 0) {
            clock.select(1);
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
}
