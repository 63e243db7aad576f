import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;

/**
 * Protocols of threads, monitors and classes: {@code Outside good|bad}. For each line on stdin it works once, in threads of its own, and
 * says what a complete report must say: "expected illegal jniframes 3" (symbols that are illegal), "expected dead jniframes 1" (threads
 * that end where they may not).
 */
public final class Outside {
    private static final int TIMES = 25;
    private static final long WAIT_MS = 20;

    private static final StringBuilder expected = new StringBuilder();
    private static int lines;

    private Outside() {}

    static native void critical(int[] array, int times, boolean wrong);

    static native void frames(int pushed, int popped);

    static native void monitors(Object of, int entered, int left);

    /** What a thread does between begin() and commit(). */
    static final class Transaction {
        private Transaction() {}

        static void begin() {}

        static void work(int what) {}

        static void commit() {}
    }

    /** Used between open() and close(), by whatever thread. */
    static final class Registry {
        private Registry() {}

        static void open() {}

        static void use() {}

        static void close() {}
    }

    /** Nobody notifies those who wait for it. */
    private static final class Forgotten {}

    private interface Work {
        void run() throws Exception;
    }

    public static void main(String[] args) throws Exception {
        System.load(new File(System.getProperty("java.class.path"), "liboutsidework.so").getAbsolutePath());
        boolean bad = args[0].equals("bad");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            expected.setLength(0);
            lines = 0;
            natives(bad);
            waits(bad);
            methods(bad);
            System.out.print(expected);
            System.out.println("DONE expected=" + lines);
        }
    }

    private static void expect(String property, int illegal, int dead) {
        expected.append("expected illegal ").append(property).append(' ').append(illegal).append('\n');
        expected.append("expected dead ").append(property).append(' ').append(dead).append('\n');
        lines += 2;
    }

    /** In a thread that has done nothing before, and ends. */
    private static void alone(String name, Work work) throws Exception {
        Throwable[] failed = new Throwable[1];
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Throwable e) {
                failed[0] = e;
            }
        }, name);
        thread.start();
        thread.join();
        if (failed[0] != null) {
            throw new IllegalStateException(failed[0]);
        }
    }

    private static void natives(boolean bad) throws Exception {
        alone("critical", () -> critical(new int[8], TIMES, bad));
        expect("jnicritical", bad ? TIMES : 0, 0);
        alone("frames", () -> frames(3, 3));
        if (bad) {
            alone("popper", () -> frames(1, 3));
            alone("leaker", () -> frames(3, 2));
        }
        expect("jniframes", bad ? 2 : 0, bad ? 1 : 0);
        alone("monitors", () -> monitors(new Object(), 3, 3));
        if (bad) {
            alone("leaver", () -> monitors(new Object(), 1, 2));
            alone("holder", () -> monitors(new Object(), 2, 1));
        }
        expect("jnimonitor", bad ? 1 : 0, bad ? 1 : 0);
    }

    /** One waits until another one notifies; and, in the bad case, one for whom nobody does. */
    private static void waits(boolean bad) throws Exception {
        Object lock = new Object();
        boolean[] told = new boolean[1];
        alone("waiter", () -> {
            Thread teller = new Thread(() -> {
                synchronized (lock) {
                    told[0] = true;
                    lock.notifyAll();
                }
            }, "teller");
            synchronized (lock) {
                // It cannot notify before this thread waits.
                teller.start();
                while (!told[0]) {
                    lock.wait();
                }
            }
            teller.join();
        });
        if (bad) {
            // Of a class of its own: a JVM may give it the structure that the other lock had.
            Object forgotten = new Forgotten();
            alone("forgotten", () -> {
                synchronized (forgotten) {
                    forgotten.wait(WAIT_MS);
                }
            });
        }
        expect("waitunnotified", bad ? 1 : 0, 0);
    }

    private static void methods(boolean bad) throws Exception {
        for (int i = 0; i < TIMES; i++) {
            alone("transaction", () -> {
                Transaction.begin();
                Transaction.work(1);
                Transaction.commit();
                if (bad) {
                    Transaction.work(2);
                    Transaction.begin();
                }
            });
        }
        expect("transaction", bad ? TIMES : 0, bad ? TIMES : 0);
        alone("opener", Registry::open);
        alone("user", Registry::use);
        alone("closer", Registry::close);
        if (bad) {
            alone("late", Registry::use);
        }
        expect("registry", bad ? 1 : 0, 0);
    }
}
