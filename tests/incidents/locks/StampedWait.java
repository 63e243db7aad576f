/*
 * incident: Sensors write their position under a StampedLock for 12 ms each, and everybody who reads or writes it queues behind them.
 * names: lock-queue Position.
 * jfr: jdk.ThreadPark Position.
 */
package locks;

import incidents.Incident;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.StampedLock;
import java.util.function.Consumer;

public final class StampedWait {
    static final class Position {
        private final StampedLock lock = new StampedLock();
        private double x;
        private double y;

        void move(double dx, double dy) {
            long stamp = lock.writeLock();
            try {
                x += dx;
                LockSupport.parkNanos(12_000_000);
                y += dy;
            } finally {
                lock.unlockWrite(stamp);
            }
        }

        double distance() {
            long stamp = lock.readLock();
            try {
                return Math.hypot(x, y);
            } finally {
                lock.unlockRead(stamp);
            }
        }
    }

    private static Thread start(String name, Position position, Consumer<Position> step) {
        Thread thread = new Thread(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                step.accept(position);
                LockSupport.parkNanos(500_000);
            }
        }, name);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws Exception {
        Position position = new Position();
        for (int i = 0; i < 4; i++) {
            start("sensor-" + i, position, at -> at.move(0.5, -0.25));
        }
        for (int i = 0; i < 5; i++) {
            start("display-" + i, position, Position::distance);
        }
        Timer timer = new Timer("status", true);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                Thread.yield();
            }
        }, 1000, 1000);
        Thread.sleep(400);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
