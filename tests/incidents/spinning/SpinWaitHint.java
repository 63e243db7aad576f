/*
 * incident: A home-made spin lock is held for 200 ms at a time, and its waiter burns a CPU with Thread.onSpinWait.
 * names: spinning|cpu-hot-line|cpu-hot-method SpinLock.lock
 * load: cpu
 * jfr: jdk.ExecutionSample SpinLock.lock
 */
import incidents.Incident;
import java.util.concurrent.atomic.AtomicReference;

public final class SpinWaitHint {
    static final class SpinLock {
        private final AtomicReference<Thread> owner = new AtomicReference<>();

        void lock() {
            while (!owner.compareAndSet(null, Thread.currentThread())) {
                while (owner.get() != null) {
                    Thread.onSpinWait();
                }
            }
        }

        void unlock() {
            owner.set(null);
        }
    }

    private final SpinLock lock = new SpinLock();
    private int balance;

    private void transfer(int amount) throws InterruptedException {
        lock.lock();
        try {
            balance += amount;
            Thread.sleep(200);
        } finally {
            lock.unlock();
        }
    }

    private void teller(int amount) {
        try {
            while (true) {
                transfer(amount);
                Thread.sleep(1);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        SpinWaitHint bank = new SpinWaitHint();
        new Thread(() -> bank.teller(5), "teller-in").start();
        new Thread(() -> bank.teller(-5), "teller-out").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
