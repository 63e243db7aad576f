/*
 * healthy: A recursive sum is forked and joined in the common pool, a few milliseconds of work ten times a second.
 * load: cpu
 */
import incidents.Incident;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

public final class ForkJoinWork {
    static final class Norm extends RecursiveTask<Double> {
        private static final long serialVersionUID = 1;

        private final double[] values;
        private final int from;
        private final int to;

        Norm(double[] values, int from, int to) {
            this.values = values;
            this.from = from;
            this.to = to;
        }

        @Override
        protected Double compute() {
            if (to - from <= 50_000) {
                return direct();
            }
            int middle = (from + to) >>> 1;
            Norm left = new Norm(values, from, middle);
            left.fork();
            return new Norm(values, middle, to).compute() + left.join();
        }

        private double direct() {
            double sum = 0;
            for (int i = from; i < to; i++) {
                sum += Math.sqrt(values[i]);
            }
            return sum;
        }
    }

    private volatile double result;

    private void frames() {
        double[] values = new double[1_000_000];
        for (int i = 0; i < values.length; i++) {
            values[i] = i % 1000;
        }
        try {
            while (true) {
                result = ForkJoinPool.commonPool().invoke(new Norm(values, 0, values.length));
                Thread.sleep(100);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new ForkJoinWork()::frames, "frames").start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
