/*
 * incident: A compiled loop over an int runs for half a second without a place to stop at, and all threads wait for it.
 * names: slow-stop CountedLoop
 * flags: -XX:-UseCountedLoopSafepoints
 * load: cpu
 * jfr: jdk.ExecutionSample CountedLoop
 */
import incidents.Incident;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public final class CountedLoop {
    private static final int ROWS = 400_000_000;

    private final int[] weights = new int[1024];
    private volatile int result;
    private volatile int threads;

    private int checksum(int seed) {
        int sum = seed;
        for (int i = 0; i < ROWS; i++) {
            sum = sum * 31 + weights[(i ^ sum) & 1023];
        }
        return sum;
    }

    private void verify() {
        for (int i = 0; ; i++) {
            result = checksum(i);
        }
    }

    private void countThreads() {
        threads = Thread.getAllStackTraces().size();
    }

    public static void main(String[] args) throws Exception {
        CountedLoop archive = new CountedLoop();
        new Thread(archive::verify, "verify").start();
        Executors.newSingleThreadScheduledExecutor()
            .scheduleWithFixedDelay(archive::countThreads, 100, 100, TimeUnit.MILLISECONDS);
        Thread.sleep(3000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
