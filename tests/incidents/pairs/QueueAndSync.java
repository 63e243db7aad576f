/*
 * incident: Producers wait for room in the queue of a consumer that takes 40 ms an event, and three threads save their state with a sync each time.
 * names: full-queue EventBus.publish
 * names: slow-disk Checkpoint.save
 * disk: slow
 * jfr: jdk.ThreadPark EventBus.publish
 */
package pairs;

import incidents.Incident;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

public final class QueueAndSync {
    static final class EventBus {
        private final BlockingQueue<String> events = new LinkedBlockingQueue<>(10);

        void publish(String event) throws InterruptedException {
            events.put(event);
        }

        int deliver() throws InterruptedException {
            String event = events.take();
            Thread.sleep(40);
            return event.length();
        }
    }

    static final class Checkpoint {
        private final Path file;

        Checkpoint(Path file) {
            this.file = file;
        }

        void save(long offset) throws IOException {
            try (FileOutputStream out = new FileOutputStream(file.toFile())) {
                out.write(ByteBuffer.allocate(Long.BYTES).putLong(offset).array());
                out.getFD().sync();
            }
        }
    }

    private static Callable<Void> publisher(EventBus bus, int source) {
        return () -> {
            for (int number = 0; ; number++) {
                bus.publish(source + "." + number);
            }
        };
    }

    private static Callable<Void> partition(Path folder, int number) {
        Checkpoint checkpoint = new Checkpoint(folder.resolve("partition-" + number));
        return () -> {
            for (long offset = 0; ; offset++) {
                checkpoint.save(offset);
                Thread.sleep(8);
            }
        };
    }

    public static void main(String[] args) throws Exception {
        EventBus bus = new EventBus();
        Path folder = Incident.temporaryFolder("checkpoints");
        ExecutorService threads = Executors.newCachedThreadPool();
        threads.submit(() -> {
            long letters = 0;
            while (letters >= 0) {
                letters += bus.deliver();
            }
            return letters;
        });
        for (int i = 0; i < 4; i++) {
            threads.submit(publisher(bus, i));
        }
        for (int i = 0; i < 3; i++) {
            threads.submit(partition(folder, i));
        }
        Thread.sleep(400);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
