/*
 * healthy: A worker computes for about 30 ms of each 100 ms, spread over several methods of its own.
 * load: cpu
 */
import incidents.Incident;

public final class WarmCompute {
    private static final int SIZE = 128;

    private final double[] signal = new double[SIZE * 8];
    private volatile double energy;

    private void sample(int frame) {
        for (int i = 0; i < signal.length; i++) {
            signal[i] = Math.sin(0.01 * i * (1 + frame % 5));
        }
    }

    private double filter() {
        double last = 0;
        double sum = 0;
        for (double value : signal) {
            last = 0.9 * last + 0.1 * value;
            sum += last * last;
        }
        return sum;
    }

    private double correlate() {
        double best = 0;
        for (int shift = 1; shift < 24; shift++) {
            double sum = 0;
            for (int i = shift; i < signal.length; i++) {
                sum += signal[i] * signal[i - shift];
            }
            best = Math.max(best, sum);
        }
        return best;
    }

    private double peaks() {
        int peaks = 0;
        for (int round = 0; round < 8; round++) {
            for (int i = 1; i < signal.length - 1; i++) {
                if (signal[i] > signal[i - 1] + 1e-4 * round && signal[i] > signal[i + 1]) {
                    peaks++;
                }
            }
        }
        return peaks;
    }

    private void frame(int number) {
        long end = System.nanoTime() + 30_000_000;
        double sum = 0;
        while (System.nanoTime() < end) {
            sample(number);
            sum += filter() + correlate() + peaks();
        }
        energy = sum;
    }

    private void run() {
        try {
            for (int number = 0; ; number++) {
                frame(number);
                Thread.sleep(70);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new WarmCompute()::run, "signal").start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
