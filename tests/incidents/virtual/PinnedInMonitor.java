/*
 * incident: Virtual threads wait for a slow device within a synchronized method, which pins them to their carriers.
 * names: pinned Device.measure
 * needs: 21
 * until: 23
 * jfr: jdk.VirtualThreadPinned Device.measure
 */
package virtual;

import incidents.Incident;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadLocalRandom;

public final class PinnedInMonitor {
    static final class Device {
        private final int number;
        private double last;

        Device(int number) {
            this.number = number;
        }

        synchronized double measure() throws InterruptedException {
            Thread.sleep(40 + number % 20);
            last = last * 0.9 + ThreadLocalRandom.current().nextDouble();
            return last;
        }
    }

    private final ConcurrentLinkedQueue<String> alarms = new ConcurrentLinkedQueue<>();

    private void watch(Device device) {
        try {
            while (true) {
                double value = device.measure();
                if (value > 1e6) {
                    alarms.add(device.number + ": " + value);
                }
                Thread.sleep(5);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        PinnedInMonitor plant = new PinnedInMonitor();
        ExecutorService watchers = Incident.virtualExecutor();
        for (int i = 0; i < 60; i++) {
            Device device = new Device(i);
            watchers.submit(() -> plant.watch(device));
        }
        Thread.sleep(800);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
