/*
 * incident: Bookings queue for one lock that is held while the calendar is saved, and each booking stays in a list of changes that nobody clears.
 * names: lock-queue BookingDesk.book
 * names: heap-growth|heap-nearly-full BookingDesk.remember
 * flags: -Xmx96m
 * jfr: jdk.ThreadPark BookingDesk.book
 */
package pairs;

import incidents.Incident;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public final class BookingDesk {
    private static final class Change {
        private final String guest;
        private final int[] rooms = new int[900];

        Change(String guest, int room) {
            this.guest = guest;
            Arrays.fill(rooms, room);
        }
    }

    private final Lock calendar = new ReentrantLock(true);
    private final List<Change> changes = new ArrayList<>();

    private void remember(String guest, int room) {
        for (int day = 0; day < 3; day++) {
            changes.add(new Change(guest + "/" + day, room));
        }
    }

    void book(String guest, int room) throws InterruptedException {
        calendar.lock();
        try {
            remember(guest, room);
            save();
        } finally {
            calendar.unlock();
        }
    }

    private void save() throws InterruptedException {
        Thread.sleep(changes.isEmpty() ? 0 : 14);
    }

    private void takeCalls(String guest) {
        try {
            for (int room = 100; ; room = 100 + (room + 7) % 40) {
                book(guest, room);
                render(room);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A page that is thrown away. */
    private static int render(int room) {
        StringBuilder page = new StringBuilder(400_000);
        for (int i = 0; i < 2000; i++) {
            page.append(room).append(' ').append(i).append('\n');
        }
        return page.toString().length();
    }

    public static void main(String[] args) throws Exception {
        BookingDesk desk = new BookingDesk();
        for (String guest : List.of("alm", "bei", "cas", "dom", "erk", "fux")) {
            new Thread(() -> desk.takeCalls(guest), "call-" + guest).start();
        }
        Thread.sleep(2500);
        Incident.ready();
        if (desk.changes.get(0).guest.isEmpty()) {
            throw new IllegalStateException();
        }
        Incident.untilStdinEnds();
    }
}
