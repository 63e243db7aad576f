/*
 * incident: The database pool keeps two idle connections in a deque; ten workers of the web server wait for one with a time limit.
 * names: pool-exhausted|lock-queue ObjectPool.borrowObject|OrderDao.
 * jfr: jdk.ThreadPark borrowObject
 */
package net.harbour.dbcp;

import incidents.Incident;
import java.util.NoSuchElementException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;

public final class IdleDeque {
    static final class Connection {
        private int statements;

        int query(String sql) {
            Incident.sleep(25);
            return sql.length() + ++statements;
        }
    }

    static final class ObjectPool {
        private final LinkedBlockingDeque<Connection> idle = new LinkedBlockingDeque<>();

        Connection borrowObject() throws InterruptedException {
            Connection connection = idle.pollFirst(10, TimeUnit.SECONDS);
            if (connection == null) {
                throw new NoSuchElementException("Timeout waiting for idle object");
            }
            return connection;
        }

        void returnObject(Connection connection) {
            idle.addFirst(connection);
        }
    }

    static final class OrderDao {
        private final ObjectPool pool;

        OrderDao(ObjectPool pool) {
            this.pool = pool;
        }

        int count(String customer) throws InterruptedException {
            Connection connection = pool.borrowObject();
            try {
                return connection.query("select count(*) from orders where customer = '" + customer + "'");
            } finally {
                pool.returnObject(connection);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ObjectPool pool = new ObjectPool();
        pool.returnObject(new Connection());
        pool.returnObject(new Connection());
        OrderDao dao = new OrderDao(pool);
        ExecutorService web = Executors.newFixedThreadPool(10);
        for (int i = 0; i < 10; i++) {
            String customer = "customer-" + i;
            web.execute(new Runnable() {
                @Override
                public void run() {
                    try {
                        dao.count(customer);
                        Thread.sleep(2);
                    } catch (InterruptedException e) {
                        return;
                    }
                    web.execute(this);
                }
            });
        }
        Thread.sleep(500);
        Incident.readyUntilTheEnd();
    }
}
