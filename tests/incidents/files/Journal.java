/*
 * incident: Every order forces the journal to the disk by itself, so that orders wait for the disk and for each other.
 * names: slow-disk Journal.append
 * load: cpu
 * jfr: jdk.FileForce Journal.append
 */
package files;

import incidents.Incident;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

public final class Journal {
    private final FileChannel channel;

    Journal(Path file) throws IOException {
        channel = FileChannel.open(file, StandardOpenOption.WRITE);
    }

    void append(ByteBuffer record) throws IOException {
        channel.write(record);
        channel.force(true);
        if (channel.position() > 64 << 20) {
            channel.position(0);
        }
    }

    private static void takeOrders(Journal journal, int till) {
        byte[] record = new byte[200_000];
        Arrays.fill(record, (byte) ('a' + till));
        try {
            while (true) {
                journal.append(ByteBuffer.wrap(record));
                LockSupport.parkNanos(500_000);
            }
        } catch (IOException e) {
            System.err.println("till " + till + ": " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        Journal journal = new Journal(Incident.temporaryFile("orders", ".journal"));
        for (int i = 0; i < 4; i++) {
            int till = i;
            Thread thread = new Thread(() -> takeOrders(journal, till), "till-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(System::nanoTime, 1, 1, TimeUnit.SECONDS);
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
