import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Paths;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Pools of libraries, whose files are the arguments, and one of the JDK with something around its workers: two of these each that are busy,
 * with a known number of tasks that wait.
 */
public class LibraryPools {
    static final CountDownLatch NEVER = new CountDownLatch(1);

    static void busy(CountDownLatch begun) {
        begun.countDown();
        try {
            NEVER.await();
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    static Executor jetty(ClassLoader libraries) throws ReflectiveOperationException {
        Class<?> type = libraries.loadClass("org.eclipse.jetty.util.thread.QueuedThreadPool");
        Object pool = type.getConstructor(int.class, int.class).newInstance(2, 2);
        type.getMethod("setName", String.class).invoke(pool, "jetty");
        type.getMethod("setDaemon", boolean.class).invoke(pool, true);
        type.getMethod("start").invoke(pool);
        return (Executor) pool;
    }

    static Executor jboss(ClassLoader libraries) throws ReflectiveOperationException {
        Class<?> type = libraries.loadClass("org.jboss.threads.EnhancedQueueExecutor$Builder");
        Object builder = type.getConstructor().newInstance();
        AtomicInteger number = new AtomicInteger();
        ThreadFactory threads = task -> {
            Thread thread = new Thread(task, "jboss-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
        type.getMethod("setCorePoolSize", int.class).invoke(builder, 2);
        type.getMethod("setMaximumPoolSize", int.class).invoke(builder, 2);
        type.getMethod("setThreadFactory", ThreadFactory.class).invoke(builder, threads);
        return (Executor) type.getMethod("build").invoke(builder);
    }

    /** Threads that are set up before they work, as Tomcat's are. */
    static Executor wrapped() {
        AtomicInteger number = new AtomicInteger();
        return Executors.newFixedThreadPool(2, worker -> {
            Runnable setUp = () -> {
                Thread.currentThread().setName("wrapped-" + number.incrementAndGet());
                worker.run();
            };
            Thread thread = new Thread(setUp);
            thread.setDaemon(true);
            return thread;
        });
    }

    static void fill(Executor pool, int waiting) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            pool.execute(() -> busy(begun));
        }
        begun.await();
        for (int i = 0; i < waiting; i++) {
            pool.execute(() -> busy(begun));
        }
    }

    public static void main(String[] files) throws Exception {
        URL[] urls = new URL[files.length];
        for (int i = 0; i < files.length; i++) {
            urls[i] = Paths.get(files[i]).toUri().toURL();
        }
        URLClassLoader libraries = new URLClassLoader(urls);
        fill(jetty(libraries), 7);
        fill(jboss(libraries), 3);
        fill(wrapped(), 5);
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            System.out.println("DONE");
        }
        System.exit(0);
    }
}
