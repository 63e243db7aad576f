/*
 * incident: Moving goods between two shelves takes their ReentrantLocks in the order of the move, and two moves in opposite directions block each other.
 * names: deadlock Shelf.moveTo
 * jfr: jdk.ThreadDump Java-level deadlock
 */
package deadlocks;

import incidents.Incident;
import java.util.concurrent.Phaser;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

public final class TwoReentrantLocks {
    static final class Shelf {
        private final ReentrantLock lock = new ReentrantLock();
        private int boxes = 40;

        void moveTo(Shelf other, int count, Phaser forklifts) {
            lock.lock();
            try {
                boxes -= count;
                forklifts.arriveAndAwaitAdvance();
                other.lock.lock();
                try {
                    other.boxes += count;
                } finally {
                    other.lock.unlock();
                }
            } finally {
                lock.unlock();
            }
        }

        int boxes() {
            lock.lock();
            try {
                return boxes;
            } finally {
                lock.unlock();
            }
        }
    }

    private final Shelf left = new Shelf();
    private final Shelf right = new Shelf();

    private void stocktaking() {
        int sum = left.boxes() + right.boxes();
        System.err.println("boxes: " + sum);
    }

    public static void main(String[] args) throws Exception {
        TwoReentrantLocks store = new TwoReentrantLocks();
        Phaser forklifts = new Phaser(2);
        new Thread(() -> store.left.moveTo(store.right, 3, forklifts), "forklift-a").start();
        new Thread(() -> store.right.moveTo(store.left, 5, forklifts), "forklift-b").start();
        Thread.sleep(300);
        for (int i = 0; i < 4; i++) {
            Thread clerk = new Thread(store::stocktaking, "clerk-" + i);
            clerk.setDaemon(true);
            clerk.start();
        }
        ScheduledThreadPoolExecutor lights = new ScheduledThreadPoolExecutor(2);
        lights.scheduleWithFixedDelay(Thread::yield, 50, 300, TimeUnit.MILLISECONDS);
        Thread.sleep(200);
        Incident.ready();
    }
}
