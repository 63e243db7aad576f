/*
 * incident: Each log record makes a new SimpleDateFormat and formats its line with String.format.
 * names: cpu-hot-line|cpu-hot-method DateFormats
 * load: cpu
 * jfr: jdk.ExecutionSample DateFormats
 */
import incidents.Incident;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

public final class DateFormats {
    private static final AtomicInteger THREADS = new AtomicInteger();

    interface Sink {
        void accept(String line);
    }

    private final Sink sink;

    DateFormats(Sink sink) {
        this.sink = sink;
    }

    private static String timestamp(long ms) {
        return new SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ss.SSSZ", Locale.ROOT).format(new Date(ms));
    }

    private void log(long ms, String level, int code) {
        sink.accept(String.format("%s %-5s [%s] code %04d", timestamp(ms), level, Thread.currentThread().getName(), code));
    }

    private void handleRequests() {
        for (int i = 0; ; i++) {
            log(1_700_000_000_000L + i, i % 10 == 0 ? "WARN" : "INFO", i % 1000);
        }
    }

    public static void main(String[] args) throws Exception {
        AtomicInteger length = new AtomicInteger();
        DateFormats log = new DateFormats(line -> length.lazySet(line.length()));
        Runnable idle = () -> {
            try {
                Incident.untilStdinEnds();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        };
        new Thread(log::handleRequests, "request-" + THREADS.incrementAndGet()).start();
        new Thread(idle, "request-" + THREADS.incrementAndGet()).start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
