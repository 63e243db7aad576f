/*
 * incident: The export writes byte by byte to its file without a buffer.
 * names: cpu-hot-line ByteByByte$Exporter.export
 * load: cpu
 * jfr: jdk.ExecutionSample ByteByByte
 */
import incidents.Incident;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

public final class ByteByByte {
    static final class Exporter {
        private final Path file;

        Exporter(Path file) {
            this.file = file;
        }

        void export(int rows) throws IOException {
            try (OutputStream out = new FileOutputStream(file.toFile())) {
                for (int row = 0; row < rows; row++) {
                    for (byte each : ("row " + row + ";42;ok\n").getBytes(StandardCharsets.US_ASCII)) {
                        out.write(each);
                    }
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Exporter exporter = new Exporter(Incident.temporaryFile("export", ".csv"));
        Thread nightly = new Thread(() -> {
            try {
                while (!Thread.currentThread().isInterrupted()) {
                    exporter.export(50_000);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }, "export");
        nightly.setDaemon(true);
        nightly.start();
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
