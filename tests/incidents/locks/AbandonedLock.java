/*
 * incident: A nightly import fails between lock() and unlock(), so that its thread ends with the lock, and nobody books any more.
 * names: lock-queue Ledger.book
 * jfr: none
 */
package locks;

import incidents.Incident;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public final class AbandonedLock {
    private static final int DESKS = 8;

    static final class Ledger {
        private final Lock lock = new ReentrantLock();
        private final Deque<Long> amounts = new ArrayDeque<>();

        void book(long amount) {
            lock.lock();
            try {
                amounts.addLast(amount);
                if (amounts.size() > 1000) {
                    amounts.removeFirst();
                }
            } finally {
                lock.unlock();
            }
        }

        /** The mistake: what the file holds is no number, and nothing unlocks then. */
        void importAll(List<String> lines) {
            lock.lock();
            for (String line : lines) {
                amounts.addLast(Long.parseLong(line));
            }
            lock.unlock();
        }
    }

    private final Ledger ledger = new Ledger();

    private Void serve(int desk) throws InterruptedException {
        for (long number = 0; ; number++) {
            ledger.book(desk * 1000L + number % 100);
            TimeUnit.MILLISECONDS.sleep(2);
        }
    }

    private Thread importTonight() {
        Thread night = new Thread(() -> ledger.importAll(List.of("12", "n/a", "7")), "nightly-import");
        night.setUncaughtExceptionHandler((thread, failure) -> { });
        night.start();
        return night;
    }

    public static void main(String[] args) throws Exception {
        AbandonedLock service = new AbandonedLock();
        ExecutorService desks = Executors.newFixedThreadPool(DESKS);
        for (int i = 0; i < DESKS; i++) {
            int desk = i;
            desks.submit(() -> service.serve(desk));
        }
        TimeUnit.MILLISECONDS.sleep(200);
        service.importTonight().join();
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
