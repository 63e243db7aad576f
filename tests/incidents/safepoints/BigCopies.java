/*
 * incident: Snapshots copy arrays of 400 MiB in one piece, and every request to stop all threads waits for the copy.
 * names: slow-stop|safepoint-long BigCopies
 * flags: -Xms1100m -Xmx1100m -XX:+UseParallelGC -XX:NewSize=64m -XX:MaxNewSize=64m
 * load: cpu
 * jfr: jdk.ExecutionSample BigCopies
 */
import incidents.Incident;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class BigCopies {
    private static final int CELLS = 50 << 20;

    private final long[] live = new long[CELLS];
    private final long[] snapshot = new long[CELLS];
    private volatile int stacks;

    private void takeSnapshot() {
        System.arraycopy(live, 0, snapshot, 0, CELLS);
    }

    private void reset(long value) {
        Arrays.fill(live, value);
    }

    private void simulate() {
        for (long round = 1; snapshot[0] >= 0; round++) {
            reset(round);
            takeSnapshot();
        }
    }

    private void watch() {
        stacks = Thread.getAllStackTraces().size();
    }

    public static void main(String[] args) throws Exception {
        BigCopies grid = new BigCopies();
        new Thread(grid::simulate, "simulation").start();
        ScheduledExecutorService watch = Executors.newScheduledThreadPool(1);
        watch.scheduleWithFixedDelay(grid::watch, 100, 100, TimeUnit.MILLISECONDS);
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
