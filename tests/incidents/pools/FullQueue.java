/*
 * incident: Measurements are stored by one consumer that takes 50 ms for each, and all that bring some wait for room in the full queue.
 * names: full-queue Intake.accept
 * jfr: jdk.ThreadPark Intake.accept
 */
package pools;

import incidents.Incident;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ThreadLocalRandom;

public final class FullQueue {
    static final class Measurement {
        private final String device;
        private final double value;

        Measurement(String device, double value) {
            this.device = device;
            this.value = value;
        }
    }

    static final class Intake {
        private final BlockingQueue<Measurement> queue = new ArrayBlockingQueue<>(20);
        private double sum;

        void accept(String device, double value) throws InterruptedException {
            queue.put(new Measurement(device, value));
        }

        void storeForEver() throws InterruptedException {
            while (true) {
                store(queue.take());
            }
        }

        private void store(Measurement measurement) throws InterruptedException {
            sum += measurement.device.isEmpty() ? 0 : measurement.value;
            Thread.sleep(50);
        }
    }

    interface Work {
        void run() throws InterruptedException;
    }

    private static void start(String name, Work work) {
        new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, name).start();
    }

    private static void measure(Intake intake, String device) throws InterruptedException {
        while (true) {
            intake.accept(device, ThreadLocalRandom.current().nextDouble());
            Thread.sleep(2);
        }
    }

    public static void main(String[] args) throws Exception {
        Intake intake = new Intake();
        start("store", intake::storeForEver);
        for (String device : new String[] {"boiler", "pump", "valve", "roof", "meter"}) {
            start(device, () -> measure(intake, device));
        }
        Thread.sleep(400);
        Incident.ready();
    }
}
