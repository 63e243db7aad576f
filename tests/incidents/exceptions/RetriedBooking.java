/*
 * incident: The first try of each booking comes with a stale version and is refused; the retry hides it. It costs two round trips each time.
 * names: exception-rate|exceptions StaleVersion
 * jfr: jdk.JavaExceptionThrow BookingStore
 */
import incidents.Incident;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public final class RetriedBooking {
    static final class StaleVersion extends Exception {
        private static final long serialVersionUID = 1;

        StaleVersion(int asked, int current) {
            super(asked + " is not " + current);
        }
    }

    /** Takes a booking only if it knows the version of the last one. */
    static final class BookingStore {
        private final AtomicInteger version = new AtomicInteger();

        void book(int asked) throws StaleVersion {
            int current = version.get();
            if (asked != current) {
                throw new StaleVersion(asked, current);
            }
            version.incrementAndGet();
        }

        int version() {
            return version.get();
        }
    }

    private static void bookWithRetries(BookingStore store, int known) {
        int version = known;
        while (true) {
            try {
                store.book(version);
                return;
            } catch (StaleVersion e) {
                version = store.version();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        BookingStore store = new BookingStore();
        ScheduledExecutorService customers = Executors.newScheduledThreadPool(3);
        customers.scheduleAtFixedRate(() -> bookWithRetries(store, store.version() - 1), 0, 20, TimeUnit.MILLISECONDS);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
