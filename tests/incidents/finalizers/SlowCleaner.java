/*
 * incident: Handles are given back by a Cleaner whose action takes 4 ms, so that the one cleaning thread falls behind.
 * names: slow-finalizer SlowCleaner
 * flags: -Xmx128m -Xmn4m
 * jfr: none
 */
import incidents.Incident;
import java.lang.ref.Cleaner;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

public final class SlowCleaner {
    private static final Cleaner CLEANER = Cleaner.create();
    private static final AtomicLong RELEASED = new AtomicLong();

    /** What is to be done when a handle is gone; must not refer to it. */
    static final class Release implements Runnable {
        private final long id;

        Release(long id) {
            this.id = id;
        }

        @Override
        public void run() {
            tellServer();
            RELEASED.addAndGet(id & 1);
        }

        private static void tellServer() {
            try {
                TimeUnit.MILLISECONDS.sleep(4);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    static final class Handle {
        private final char[] name = new char[6000];

        Handle(long id) {
            Arrays.fill(name, (char) id);
            CLEANER.register(this, new Release(id));
        }
    }

    private long opened;

    private void open() {
        for (int i = 0; i < 8; i++) {
            if (new Handle(opened).name.length > 0) {
                opened++;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Executors.newSingleThreadScheduledExecutor()
            .scheduleAtFixedRate(new SlowCleaner()::open, 0, 20, TimeUnit.MILLISECONDS);
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
