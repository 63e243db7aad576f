import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Locks that are free in the end, by one thread or two, in each other and with conditions; some that are not; some unlocked by a stranger. */
public final class LockLeftHeld {
    private static long sum;

    private LockLeftHeld() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "LockLeftHeld", LockLeftHeld::good, LockLeftHeld::bad);
    }

    private static void good(Protocol protocol) throws InterruptedException {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            ReentrantLock lock = new ReentrantLock(i % 2 == 0);
            nested(lock, i % 6);
            if (lock.tryLock()) {
                lock.unlock();
            }
        }
        ReentrantLock shared = new ReentrantLock();
        Condition turn = shared.newCondition();
        Thread other = new Thread(() -> work(shared, turn, 1), "lock-partner");
        other.start();
        work(shared, turn, 0);
        other.join();
        // This one waits until the end, without holding what it waits with.
        Thread waiting = new Thread(() -> await(new ReentrantLock()), "lock-waiter");
        waiting.setDaemon(true);
        waiting.start();
        while (waiting.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
    }

    private static void await(ReentrantLock lock) {
        lock.lock();
        lock.newCondition().awaitUninterruptibly();
    }

    private static void nested(ReentrantLock lock, int depth) {
        lock.lock();
        try {
            sum++;
            if (depth > 0) {
                nested(lock, depth - 1);
            }
        } finally {
            lock.unlock();
        }
    }

    private static volatile int next;

    /** Two threads take turns, and wait for each other while they hold the lock. */
    private static void work(ReentrantLock lock, Condition turn, int mine) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            lock.lock();
            try {
                while (next % 2 != mine) {
                    turn.awaitUninterruptibly();
                }
                next++;
                turn.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    private static void bad(Protocol protocol) throws InterruptedException {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            ReentrantLock held = new ReentrantLock();
            for (int depth = 0; depth <= i % 4; depth++) {
                held.lockInterruptibly();
            }
            for (int depth = 0; depth < i % 4; depth++) {
                held.unlock();
            }
            protocol.dead(1);
            ReentrantLock stranger = new ReentrantLock();
            try {
                stranger.unlock();
                Protocol.unreachable("unlocked");
            } catch (IllegalMonitorStateException expected) {
                sum++;
            }
            protocol.illegal(1);
        }
    }
}
