import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Paths;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/**
 * A pool with two connections of a library, whose files are the arguments. Five threads want one. Where the first argument is `held`, two of
 * these have them; where it is `lost`, both were taken before and forgotten. Two more threads wait in a pool of the program's own.
 */
public class Lent {
    static final CountDownLatch NEVER = new CountDownLatch(1);

    /** Hardly a pool: it has nothing. */
    static final class Desks {
        synchronized Object borrow() {
            while (true) {
                try {
                    wait();
                } catch (InterruptedException interrupted) {
                    throw new AssertionError(interrupted);
                }
            }
        }
    }

    static DataSource pool(ClassLoader libraries) throws ReflectiveOperationException {
        Class<?> type = libraries.loadClass("com.zaxxer.hikari.HikariDataSource");
        Object pool = type.getConstructor().newInstance();
        type.getMethod("setJdbcUrl", String.class).invoke(pool, "jdbc:h2:mem:lent");
        type.getMethod("setMaximumPoolSize", int.class).invoke(pool, 2);
        type.getMethod("setConnectionTimeout", long.class).invoke(pool, 600_000L);
        return (DataSource) pool;
    }

    static void keep(Connection connection) throws Exception {
        NEVER.await();
        connection.close();
    }

    static void work(DataSource pool) throws Exception {
        keep(pool.getConnection());
    }

    interface Body {
        void run() throws Exception;
    }

    static Thread daemon(Thread thread) {
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** Starts a thread that waits, whatever for. */
    static void start(Body body) throws InterruptedException {
        Thread thread = daemon(new Thread(() -> {
            try {
                body.run();
            } catch (Exception exception) {
                throw new AssertionError(exception);
            }
        }));
        until(thread, Thread.State.WAITING, Thread.State.TIMED_WAITING);
    }

    static void until(Thread thread, Thread.State... states) throws InterruptedException {
        while (!Arrays.asList(states).contains(thread.getState())) {
            Thread.sleep(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        boolean isLost = arguments[0].equals("lost");
        URL[] urls = new URL[arguments.length - 1];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = Paths.get(arguments[i + 1]).toUri().toURL();
        }
        ClassLoader libraries = new URLClassLoader(urls);
        Thread.currentThread().setContextClassLoader(libraries);
        DataSource pool = pool(libraries);
        List<Connection> forgotten = new ArrayList<>();
        for (int i = 0; isLost && i < 2; i++) {
            forgotten.add(pool.getConnection());
        }
        for (int i = 0; i < 5; i++) {
            start(() -> work(pool));
        }
        Desks desks = new Desks();
        for (int i = 0; i < 2; i++) {
            until(daemon(new Thread(desks::borrow)), Thread.State.WAITING);
        }
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            System.out.println("DONE " + forgotten.size());
        }
        System.exit(0);
    }
}
