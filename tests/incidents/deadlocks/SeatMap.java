/*
 * incident: Swapping seats locks two rows in the order of the request, and two swaps in opposite directions wait for each other.
 * names: deadlock SeatMap.
 * jfr: none
 */
package deadlocks;

import incidents.Incident;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

public final class SeatMap {
    static final class Row {
        private final ReentrantLock lock = new ReentrantLock();
        private final String[] seats = new String[20];
    }

    private final Row[] rows = new Row[12];

    SeatMap() {
        Arrays.setAll(rows, i -> new Row());
    }

    void book(int row, int seat, String guest) {
        ReentrantLock lock = rows[row].lock;
        lock.lock();
        try {
            rows[row].seats[seat] = guest;
        } finally {
            lock.unlock();
        }
    }

    void swap(int rowA, int rowB, int seat) {
        lockBoth(rows[rowA], rows[rowB]);
        try {
            String guest = rows[rowA].seats[seat];
            rows[rowA].seats[seat] = rows[rowB].seats[seat];
            rows[rowB].seats[seat] = guest;
        } finally {
            rows[rowB].lock.unlock();
            rows[rowA].lock.unlock();
        }
    }

    private static void lockBoth(Row first, Row second) {
        first.lock.lock();
        checkFare(first);
        second.lock.lock();
    }

    private static void checkFare(Row row) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(30 + row.seats.length));
    }

    public static void main(String[] args) throws Exception {
        SeatMap map = new SeatMap();
        ExecutorService desk = Executors.newFixedThreadPool(4);
        desk.execute(() -> map.swap(3, 7, 11));
        desk.execute(() -> map.swap(7, 3, 2));
        ScheduledExecutorService bookings = Executors.newScheduledThreadPool(2);
        for (int i = 0; i < 3; i++) {
            int row = i;
            bookings.scheduleAtFixedRate(() -> map.book(row, 4, "guest"), 10, 40, TimeUnit.MILLISECONDS);
        }
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
