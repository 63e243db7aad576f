/*
 * incident: Eight importers take turns at one ReentrantLock, which each of them holds for 5 ms to write a row.
 * names: lock-queue Ledger.append
 * jfr: jdk.ThreadPark Ledger.append
 */
package locks;

import incidents.Incident;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public final class ReentrantQueue {
    static final class Ledger {
        private final Lock lock = new ReentrantLock(true);
        private final Deque<String> rows = new ArrayDeque<>();

        void append(String row) throws InterruptedException {
            lock.lock();
            try {
                rows.addLast(row);
                if (rows.size() > 100) {
                    rows.removeFirst();
                }
                settle(row);
            } finally {
                lock.unlock();
            }
        }

        private void settle(String row) throws InterruptedException {
            Thread.sleep(row.isEmpty() ? 0 : 5);
        }
    }

    private final Ledger ledger = new Ledger();

    private Void importAll(int source) throws InterruptedException {
        for (long row = 0; ; row++) {
            String text = parse(source, row);
            ledger.append(text);
        }
    }

    private static String parse(int source, long row) {
        return source + ";" + row + ";" + Long.toHexString(row * 31 + source);
    }

    public static void main(String[] args) throws Exception {
        ReentrantQueue service = new ReentrantQueue();
        ExecutorService importers = Executors.newFixedThreadPool(8);
        for (int i = 0; i < 8; i++) {
            int source = i;
            importers.submit(() -> service.importAll(source));
        }
        ExecutorService spare = Executors.newFixedThreadPool(2);
        spare.submit(() -> "started");
        spare.submit(() -> "started");
        Thread.sleep(300);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
