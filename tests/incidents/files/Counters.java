/*
 * incident: Counters are kept in a RandomAccessFile opened with "rwd", so each increment is a write that waits for the disk.
 * names: slow-disk CounterFile.increment
 * load: cpu
 * jfr: none
 */
package files;

import incidents.Incident;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

public final class Counters {
    /** A page of counters that survive a crash. */
    static final class CounterFile {
        private final RandomAccessFile file;
        private final byte[] page = new byte[64 << 10];

        CounterFile(Path path) throws IOException {
            file = new RandomAccessFile(path.toFile(), "rwd");
        }

        synchronized long increment(int counter) throws IOException {
            long value = ++page[counter % page.length];
            file.seek(0);
            file.write(page);
            return value;
        }
    }

    private static void count(CounterFile file, int visitor) {
        try {
            for (int i = 0; file.increment(visitor + i) < Long.MAX_VALUE; i += 7) {
                LockSupport.parkNanos(200_000);
            }
        } catch (IOException e) {
            System.err.println("visitor " + visitor + ": " + e);
        }
    }

    private static Thread start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 4; i++) {
            CounterFile file = new CounterFile(Incident.temporaryFile("counters" + i, ".bin"));
            int visitor = i;
            start("visitor-" + i, () -> count(file, visitor));
        }
        ExecutorService idle = Executors.newFixedThreadPool(3);
        idle.submit(System::nanoTime);
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
