/*
 * incident: 24 threads simulate without a pause on a machine with far fewer CPUs, so each waits for one most of the time.
 * names: cpu-queue|cpu-run-queue *
 * load: cpu
 * jfr: none
 */
import incidents.Incident;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class TooManyRunners {
    private static final int RUNNERS = 24;

    private final double[] results = new double[RUNNERS];

    private static double step(double price, int i) {
        return price * (1 + Math.sin(i) * 1e-6);
    }

    private static double path(double start) {
        double price = start;
        for (int i = 0; i < 100_000; i++) {
            price = step(price, i);
        }
        return price;
    }

    private void simulate(int slot) {
        while (results[slot] >= 0) {
            results[slot] = path(100 + slot);
        }
    }

    public static void main(String[] args) throws Exception {
        TooManyRunners risk = new TooManyRunners();
        ExecutorService pool = Executors.newFixedThreadPool(RUNNERS);
        for (int i = 0; i < RUNNERS; i++) {
            int slot = i;
            pool.execute(() -> risk.simulate(slot));
        }
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
