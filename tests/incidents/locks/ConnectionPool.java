/*
 * incident: Reports keep database connections for seconds, so that the pool of three is always empty and orders wait for one.
 * names: lock-queue|pool-exhausted ConnectionPool.borrow
 * jfr: jdk.ThreadPark ConnectionPool.borrow
 */
package locks;

import incidents.Incident;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

public final class ConnectionPool {
    /** As good as a connection to a database. */
    static final class Connection {
        private final int number;

        Connection(int number) {
            this.number = number;
        }

        int query(String sql, long ms) {
            try {
                Thread.sleep(ms);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return sql.length() + number;
        }
    }

    private final Semaphore permits;
    private final Queue<Connection> free = new ConcurrentLinkedQueue<>();

    ConnectionPool(int size) {
        permits = new Semaphore(size, true);
        for (int i = 0; i < size; i++) {
            free.add(new Connection(i));
        }
    }

    Connection borrow() throws InterruptedException {
        permits.acquire();
        return free.remove();
    }

    void giveBack(Connection connection) {
        free.add(connection);
        permits.release();
    }

    int with(String sql, long ms) {
        try {
            Connection connection = borrow();
            try {
                return connection.query(sql, ms);
            } finally {
                giveBack(connection);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }

    private static int saveOrder(ConnectionPool pool, int order) {
        return pool.with("insert into orders values (" + order + ")", 3);
    }

    private static int monthlyReport(ConnectionPool pool) {
        return pool.with("select sum(total) from orders group by month", 2500);
    }

    public static void main(String[] args) throws Exception {
        ConnectionPool pool = new ConnectionPool(3);
        for (int i = 0; i < 5; i++) {
            new Thread(() -> {
                while (monthlyReport(pool) > 0) {
                    Thread.yield();
                }
            }, "report-" + i).start();
        }
        for (int i = 0; i < 9; i++) {
            int order = i;
            new Thread(() -> {
                while (saveOrder(pool, order) > 0) {
                    Thread.yield();
                }
            }, "checkout-" + i).start();
        }
        Thread.sleep(600);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
