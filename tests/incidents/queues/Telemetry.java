/*
 * incident: Eight sensors wait for room in a bounded queue, since the only thread that stores samples is slow.
 * names: full-queue Telemetry.publish
 * jfr: jdk.ThreadPark Telemetry.publish
 */
package queues;

import incidents.Incident;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class Telemetry {
    private static final int SENSORS = 8;

    private final BlockingQueue<double[]> samples = new ArrayBlockingQueue<>(50);

    private void publish(double[] sample) throws InterruptedException {
        samples.put(sample);
    }

    private void measure(int sensor) {
        double value = sensor;
        try {
            while (true) {
                value = value * 0.9 + Math.random();
                publish(new double[] {sensor, System.nanoTime(), value});
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Writes samples into a table far away. */
    private final class Store implements Runnable {
        private double total;

        @Override
        public void run() {
            try {
                while (true) {
                    insert(samples.take());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void insert(double[] sample) throws InterruptedException {
            total += sample[2];
            Thread.sleep(40);
        }
    }

    public static void main(String[] args) throws Exception {
        Telemetry telemetry = new Telemetry();
        new Thread(telemetry.new Store(), "store").start();
        for (int i = 0; i < SENSORS; i++) {
            int sensor = i;
            new Thread(() -> telemetry.measure(sensor), "sensor-" + i).start();
        }
        ExecutorService alarms = Executors.newFixedThreadPool(2);
        alarms.submit(() -> telemetry.samples.size());
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
