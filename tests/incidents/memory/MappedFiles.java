/*
 * incident: Segments of a file are mapped into memory one after the other, and all mappings are kept.
 * names: mapped-files|memory-growth /segments|MappedFiles
 * flags: -Xmx64m
 * jfr: none
 */
import incidents.Incident;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

public final class MappedFiles {
    private static final int SEGMENT = 1 << 20;
    private static final int SEGMENTS = 64;

    private final List<MappedByteBuffer> mapped = new ArrayList<>();
    private final FileChannel file;

    MappedFiles(Path path) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
    }

    private MappedByteBuffer map(int number) throws IOException {
        MappedByteBuffer segment = file.map(MapMode.READ_WRITE, (long) number % SEGMENTS * SEGMENT, SEGMENT);
        mapped.add(segment);
        return segment;
    }

    private void append(int number) throws IOException {
        MappedByteBuffer segment = map(number);
        for (int i = 0; i < SEGMENT; i += 1024) {
            segment.put(i, (byte) number);
        }
    }

    public static void main(String[] args) throws Exception {
        MappedFiles store = new MappedFiles(Incident.temporaryFile("segments", ".dat"));
        store.append(0);
        Thread writer = new Thread(() -> {
            try {
                for (int number = 1; ; number++) {
                    store.append(number);
                    Thread.sleep(300);
                }
            } catch (IOException e) {
                System.err.println("cannot map: " + e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "segments");
        writer.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
