/*
 * healthy: Two threads write a few hundred lines a second to a log through a buffer, and nothing forces them to the disk.
 */
import incidents.Incident;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

public final class LogFile {
    private final BufferedWriter out;
    private int lines;

    LogFile(Path path) throws IOException {
        out = Files.newBufferedWriter(path);
    }

    private synchronized void log(String message) {
        try {
            out.write(message);
            out.newLine();
            if (++lines % 200 == 0) {
                out.flush();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void work(String name) {
        try {
            for (int i = 0; ; i++) {
                log(name + " did step " + i);
                Thread.sleep(6);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        LogFile log = new LogFile(Incident.temporaryFile("service", ".log"));
        new Thread(() -> log.work("import"), "import").start();
        new Thread(() -> log.work("export"), "export").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
