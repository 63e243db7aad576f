/*
 * incident: Another process has locked the spool file and does not give it back, so the sender waits for the lock for ever.
 * names: slow-disk Spool.claim
 * jfr: none
 */
package files;

import incidents.Incident;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

public final class Spool {
    private final FileChannel channel;

    Spool(Path file) throws IOException {
        channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    private FileLock claim() throws IOException {
        return channel.lock();
    }

    private int sendPending() throws IOException {
        try (FileLock lock = claim()) {
            return lock.isShared() ? 0 : (int) channel.size();
        }
    }

    private void sendForEver() {
        try {
            while (sendPending() >= 0) {
                Thread.sleep(50);
            }
        } catch (IOException e) {
            System.err.println("spool: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A process that keeps the lock. */
    static final class Cleaner {
        public static void main(String[] args) throws IOException, InterruptedException {
            FileChannel spool = FileChannel.open(Path.of(args[0]), StandardOpenOption.WRITE);
            FileLock lock = spool.lock();
            Incident.readyAsChild(lock.isValid());
            Incident.untilStdinEnds();
        }
    }

    public static void main(String[] args) throws Exception {
        Path file = Incident.temporaryFile("outgoing", ".spool");
        Process cleaner = Incident.child(Cleaner.class, file);
        if (cleaner.getInputStream().read() < 0) {
            throw new IOException("no cleaner");
        }
        Spool spool = new Spool(file);
        new Thread(spool::sendForEver, "sender").start();
        BlockingQueue<String> incoming = new LinkedBlockingQueue<>();
        ExecutorService receivers = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 2; i++) {
            receivers.submit(incoming::take);
        }
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(incoming::size, 50, 50, TimeUnit.MILLISECONDS);
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
