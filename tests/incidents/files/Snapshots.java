/*
 * incident: The shared page is a mapped file, and every request forces all of it to the disk.
 * names: slow-disk SharedPage.publish
 * load: cpu
 * jfr: none
 */
package files;

import incidents.Incident;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.Executors;

public final class Snapshots {
    private static final int SIZE = 4 << 20;

    static final class SharedPage {
        private final MappedByteBuffer page;

        SharedPage(Path file) throws IOException {
            try (RandomAccessFile opened = new RandomAccessFile(file.toFile(), "rw")) {
                opened.setLength(SIZE);
                page = opened.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, SIZE);
            }
        }

        void publish(int slot, long value) {
            for (int offset = 0; offset < SIZE; offset += 4096) {
                page.putLong(offset + slot * Long.BYTES, value);
            }
            page.force();
        }
    }

    private static void serve(SharedPage page, int slot) {
        for (long version = 0; ; version++) {
            page.publish(slot, version);
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 3; i++) {
            SharedPage page = new SharedPage(Incident.temporaryFile("page" + i, ".map"));
            int slot = i;
            Thread server = new Thread(() -> serve(page, slot), "server-" + i);
            server.setDaemon(true);
            server.start();
        }
        Executors.newCachedThreadPool().submit(System::nanoTime);
        Thread.sleep(700);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
