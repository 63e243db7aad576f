/*
 * incident: A thread that reads the tariffs wants to write them without giving up its read lock, so it waits for itself, and all others for it.
 * names: deadlock|lock-queue TariffTable.
 * jfr: none
 */
package deadlocks;

import incidents.Incident;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public final class TariffTable {
    private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
    private final Map<String, BigDecimal> tariffs = new HashMap<>();
    private long loadedAt;

    BigDecimal tariff(String zone) {
        lock.readLock().lock();
        try {
            if (isStale()) {
                reload();
            }
            return tariffs.getOrDefault(zone, BigDecimal.ONE);
        } finally {
            lock.readLock().unlock();
        }
    }

    private boolean isStale() {
        return System.currentTimeMillis() - loadedAt > 400;
    }

    private void reload() {
        lock.writeLock().lock();
        try {
            loadedAt = System.currentTimeMillis();
            tariffs.put("A", new BigDecimal("3.20"));
            tariffs.put("B", new BigDecimal("4.70"));
        } finally {
            lock.writeLock().unlock();
        }
    }

    private static void sellTickets(TariffTable table) {
        while (true) {
            table.tariff("A");
            LockSupport.parkNanos(50_000_000);
        }
    }

    public static void main(String[] args) throws Exception {
        TariffTable table = new TariffTable();
        table.reload();
        for (int i = 0; i < 7; i++) {
            Thread machine = new Thread(() -> sellTickets(table), "machine-" + i);
            machine.setDaemon(true);
            machine.start();
        }
        ScheduledExecutorService display = Executors.newScheduledThreadPool(1);
        display.scheduleAtFixedRate(System::nanoTime, 0, 50, TimeUnit.MILLISECONDS);
        Thread.sleep(1200);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
