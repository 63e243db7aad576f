/*
 * incident: Sixteen request threads run parallel streams at once, all of which compete for the same few CPUs.
 * names: cpu-queue|cpu-run-queue *
 * load: cpu
 * jfr: none
 */
import incidents.Incident;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;

public final class ParallelStreams {
    private static final AtomicLong ANSWERS = new AtomicLong();

    private static long score(long id) {
        long value = id;
        for (int i = 0; i < 50; i++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
            value ^= value >>> 17;
        }
        return value & 1023;
    }

    private static long bestOf(long from) {
        return LongStream.range(from, from + 200_000).parallel().map(ParallelStreams::score).max().orElse(0);
    }

    private static void serve(int client) {
        for (long from = client; ; from += 1000) {
            ANSWERS.addAndGet(bestOf(from));
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService http = Executors.newFixedThreadPool(16);
        for (int i = 0; i < 16; i++) {
            int client = i;
            http.execute(() -> serve(client));
        }
        Thread.sleep(800);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
