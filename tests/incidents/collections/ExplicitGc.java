/*
 * incident: A housekeeping task calls System.gc() five times a second to keep memory low.
 * names: gc-explicit Housekeeping.tidy
 * flags: -Xmx64m -XX:+UseSerialGC
 * jfr: jdk.GarbageCollection System.gc()
 */
import incidents.Incident;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class ExplicitGc {
    static final class Housekeeping {
        private long freed;

        void tidy() {
            long before = Runtime.getRuntime().freeMemory();
            System.gc();
            freed += Runtime.getRuntime().freeMemory() - before;
        }
    }

    static final class Thumbnails {
        private final byte[][] recent = new byte[16][];
        private int next;

        void render() {
            byte[] picture = new byte[20_000];
            Arrays.fill(picture, (byte) next);
            recent[next++ % recent.length] = picture;
        }
    }

    public static void main(String[] args) throws Exception {
        Housekeeping housekeeping = new Housekeeping();
        Thumbnails thumbnails = new Thumbnails();
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
        timer.scheduleWithFixedDelay(housekeeping::tidy, 0, 200, TimeUnit.MILLISECONDS);
        timer.scheduleAtFixedRate(thumbnails::render, 0, 20, TimeUnit.MILLISECONDS);
        Thread.sleep(600);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
