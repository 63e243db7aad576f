/*
 * healthy: Two producers hand over parcels through a bounded queue; three consumers wait for them most of the time.
 */
import incidents.Incident;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public final class ProducerConsumer {
    static final class Parcel {
        private final int[] weights;

        Parcel(int... weights) {
            this.weights = weights;
        }

        int weight() {
            return Arrays.stream(weights).sum();
        }
    }

    private final BlockingQueue<Parcel> belt = new ArrayBlockingQueue<>(32);
    private final AtomicInteger tons = new AtomicInteger();

    private void load() {
        try {
            while (true) {
                Parcel parcel = belt.poll(10, TimeUnit.SECONDS);
                if (parcel != null) {
                    tons.addAndGet(parcel.weight() / 1000);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void pack(int pause) {
        try {
            for (int i = 0; ; i++) {
                belt.put(new Parcel(i % 500, i % 700, 20));
                Thread.sleep(pause);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        ProducerConsumer depot = new ProducerConsumer();
        for (int i = 0; i < 3; i++) {
            new Thread(depot::load, "loader-" + i).start();
        }
        new Thread(() -> depot.pack(15), "packer-1").start();
        new Thread(() -> depot.pack(25), "packer-2").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
