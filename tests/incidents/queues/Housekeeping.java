/*
 * incident: All periodic jobs share one timer thread, and the backup on it takes far longer than its period: the others are late.
 * names: executor-backlog Backup.copyTables
 * jfr: none
 */
package queues;

import incidents.Incident;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

public final class Housekeeping {
    static final class Backup implements Runnable {
        private int copied;

        @Override
        public void run() {
            copyTables("orders", "customers", "stock");
        }

        private void copyTables(String... tables) {
            for (String table : tables) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(800 + table.length()));
                copied++;
            }
        }
    }

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "timer"));
    private final Map<String, Long> lastBeat = new ConcurrentHashMap<>();

    private void beat(String node) {
        lastBeat.put(node, System.currentTimeMillis());
    }

    private long expired() {
        long now = System.currentTimeMillis();
        return lastBeat.values().stream().filter(last -> now - last > 1000).count();
    }

    void start() {
        timer.scheduleAtFixedRate(new Backup(), 100, 500, TimeUnit.MILLISECONDS);
        for (int i = 0; i < 6; i++) {
            String node = "node-" + i;
            timer.scheduleAtFixedRate(() -> beat(node), 50, 100, TimeUnit.MILLISECONDS);
        }
        timer.scheduleAtFixedRate(this::expired, 100, 200, TimeUnit.MILLISECONDS);
    }

    public static void main(String[] args) throws Exception {
        Housekeeping housekeeping = new Housekeeping();
        housekeeping.start();
        ExecutorService requests = Executors.newFixedThreadPool(4);
        for (int i = 0; i < 4; i++) {
            requests.submit(housekeeping::expired);
        }
        Thread.sleep(3500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
