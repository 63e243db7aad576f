/*
 * incident: Twelve request threads share two database connections, and each keeps one for 20 ms.
 * names: lock-queue|pool-exhausted Connections.borrow
 * jfr: jdk.ThreadPark Connections.borrow
 */
package locks;

import incidents.Incident;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

public final class TwoConnections {
    static final class Connection {
        private final int number;

        Connection(int number) {
            this.number = number;
        }

        String query(String sql) {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return number + ":" + sql;
        }
    }

    static final class Connections {
        private final Semaphore permits = new Semaphore(2);
        private final Queue<Connection> free = new ArrayDeque<>();

        Connections() {
            free.add(new Connection(1));
            free.add(new Connection(2));
        }

        private Connection borrow() throws InterruptedException {
            permits.acquire();
            synchronized (free) {
                return free.remove();
            }
        }

        private void giveBack(Connection connection) {
            synchronized (free) {
                free.add(connection);
            }
            permits.release();
        }

        <T> T with(Function<Connection, T> work) throws InterruptedException {
            Connection connection = borrow();
            try {
                return work.apply(connection);
            } finally {
                giveBack(connection);
            }
        }
    }

    private static void handleRequests(Connections connections) {
        try {
            while (true) {
                String row = connections.with(connection -> connection.query("select 1"));
                Thread.sleep(row.length() % 3);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Connections connections = new Connections();
        AtomicInteger number = new AtomicInteger();
        ThreadFactory factory = task -> new Thread(task, "http-" + number.incrementAndGet());
        for (int i = 0; i < 12; i++) {
            factory.newThread(() -> handleRequests(connections)).start();
        }
        Thread.sleep(300);
        Incident.ready();
    }
}
