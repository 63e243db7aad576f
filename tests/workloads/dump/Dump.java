import java.io.FileInputStream;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Threads that all stand still, each in another way. They are daemons, so that the program ends with its stdin. */
public class Dump {
    static final Object[] MONITORS = {new Object(), new Object(), new Object()};
    static final ReentrantLock LOCK = new ReentrantLock();
    static final int DEPTH = 40;

    interface Task {
        void run() throws Exception;
    }

    static void start(String name, Task task) {
        Thread thread = new Thread(() -> {
            try {
                task.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Takes one monitor, and wants the other when both are taken. */
    static void circle(Object first, Object second, CountDownLatch taken) throws Exception {
        synchronized (first) {
            taken.countDown();
            taken.await();
            synchronized (second) {
                throw new IllegalStateException("no deadlock");
            }
        }
    }

    static void lockThenMonitor(CountDownLatch taken) throws Exception {
        LOCK.lock();
        taken.countDown();
        taken.await();
        synchronized (MONITORS[2]) {
            throw new IllegalStateException("no deadlock");
        }
    }

    static void monitorThenLock(CountDownLatch taken) throws Exception {
        synchronized (MONITORS[2]) {
            taken.countDown();
            taken.await();
            LOCK.lock();
        }
    }

    /** Compiled long before it parks, with itself inlined. */
    static int deep(int depth, boolean parks) {
        if (depth == 0) {
            while (parks) {
                LockSupport.park();
            }
            return 1;
        }
        return deep(depth - 1, parks) + 1;
    }

    static void warmThenParked() {
        long sum = 0;
        for (int i = 0; i < 20_000; i++) {
            sum += deep(DEPTH, false);
        }
        System.setProperty("dump.sum", Long.toString(sum));
        deep(DEPTH, true);
    }

    /** Runs in its class's initialiser, which native code of the JVM calls. */
    static class Initialised {
        static final int VALUE = deep(3, true);
    }

    public static void reflected() {
        deep(2, true);
    }

    public static void main(String[] arguments) throws Exception {
        CountDownLatch two = new CountDownLatch(2);
        start("circle-1", () -> circle(MONITORS[0], MONITORS[1], two));
        start("circle-2", () -> circle(MONITORS[1], MONITORS[0], two));
        CountDownLatch both = new CountDownLatch(2);
        start("mixed-1", () -> lockThenMonitor(both));
        start("mixed-2", () -> monitorThenLock(both));
        start("sleeper", () -> Thread.sleep(1_000_000_000));
        start("waiter", () -> {
            synchronized (arguments) {
                arguments.wait();
            }
        });
        start("warm", Dump::warmThenParked);
        start("initialiser", () -> System.out.println(Initialised.VALUE));
        start("reflected", () -> Dump.class.getMethod("reflected").invoke(null));
        start("quote \"and\" \u001b[31mred", () -> LockSupport.park());

        ExecutorService pool = Executors.newFixedThreadPool(3, task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        CountDownLatch all = new CountDownLatch(3);
        Callable<Integer> inner = () -> 1;
        for (int i = 0; i < 3; i++) {
            pool.submit(() -> {
                all.countDown();
                all.await();
                return pool.submit(inner).get();
            });
        }

        ServerSocket server = new ServerSocket(0);
        start("reader", () -> {
            try (Socket socket = new Socket("127.0.0.1", server.getLocalPort())) {
                socket.getInputStream().read();
            }
        });
        Socket accepted = server.accept();
        start("busy", () -> {
            for (long i = 0; ; i++) {
                if (i < 0) {
                    break;
                }
            }
        });

        System.out.println("READY");
        InputStream in = System.in;
        while (in.read() >= 0) {
            // The end of stdin ends the program.
        }
        accepted.close();
    }
}
