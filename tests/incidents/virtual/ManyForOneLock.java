/*
 * incident: Five thousand virtual threads book at one ReentrantLock, which each of them holds for 2 ms.
 * names: lock-queue Account.book
 * needs: 21
 * jfr: none
 */
package virtual;

import incidents.Incident;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public final class ManyForOneLock {
    static final class Account {
        private final ReentrantLock lock = new ReentrantLock();
        private long cents;
        private int bookings;

        long book(long amount) {
            lock.lock();
            try {
                bookings++;
                writeAhead();
                cents += amount;
                return cents;
            } finally {
                lock.unlock();
            }
        }

        private void writeAhead() {
            LockSupport.parkNanos(2_000_000);
        }
    }

    static final class Visitor implements Runnable {
        private final Account account;
        private final AtomicLong highest;
        private final int number;

        Visitor(Account account, AtomicLong highest, int number) {
            this.account = account;
            this.highest = highest;
            this.number = number;
        }

        @Override
        public void run() {
            while (!Thread.currentThread().isInterrupted()) {
                long balance = account.book(number % 100);
                highest.accumulateAndGet(balance, Math::max);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Account account = new Account();
        AtomicLong highest = new AtomicLong();
        for (int i = 0; i < 5000; i++) {
            Incident.virtual(new Visitor(account, highest, i));
        }
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
