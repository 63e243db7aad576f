/*
 * incident: Moving a fence writes its journal line with the stamped lock held for writing, and all vehicles wait meanwhile.
 * names: lock-queue Geofence.contains
 * jfr: jdk.ThreadPark Geofence.contains
 */
package locks;

import incidents.Incident;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.StampedLock;

/** A circle on the map. */
public final class Geofence {
    private final StampedLock lock = new StampedLock();
    private double x;
    private double y;
    private double radius = 100;

    boolean contains(double px, double py) {
        long stamp = lock.tryOptimisticRead();
        double dx = px - x;
        double dy = py - y;
        double r = radius;
        if (!lock.validate(stamp)) {
            stamp = lock.readLock();
            try {
                dx = px - x;
                dy = py - y;
                r = radius;
            } finally {
                lock.unlockRead(stamp);
            }
        }
        return dx * dx + dy * dy <= r * r;
    }

    void move(double newX, double newY, Journal journal) {
        long stamp = lock.writeLock();
        try {
            x = newX;
            y = newY;
            radius += 0.001;
            journal.append("moved to " + newX + "," + newY);
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    /** Keeps what happened, on another machine. */
    static final class Journal {
        private long lines;

        void append(String line) {
            lines += line.isEmpty() ? 0 : 1;
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(300));
        }
    }

    private static void drive(Geofence fence, int vehicle) {
        for (int step = 0; ; step++) {
            fence.contains(vehicle * 3.0, step % 200);
            LockSupport.parkNanos(8_000_000L + vehicle);
        }
    }

    public static void main(String[] args) throws Exception {
        Geofence fence = new Geofence();
        Journal journal = new Journal();
        for (int i = 0; i < 8; i++) {
            int vehicle = i;
            Thread thread = new Thread(() -> drive(fence, vehicle), "vehicle-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        Thread dispatcher = new Thread(() -> {
            for (int i = 0; ; i++) {
                fence.move(i % 50, -i % 50, journal);
                LockSupport.parkNanos(20_000_000);
            }
        }, "dispatcher");
        dispatcher.setDaemon(true);
        dispatcher.start();
        Thread.sleep(600);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
