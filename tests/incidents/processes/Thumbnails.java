/*
 * incident: Every picture starts an external program and waits until it has ended, which takes two seconds.
 * names: slow-process Converter.resize
 * jfr: none
 */
package processes;

import incidents.Incident;
import java.io.File;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

public final class Thumbnails {
    /** Calls the command-line tool. */
    static final class Converter {
        private final String tool;

        Converter(String tool) {
            this.tool = tool;
        }

        int resize(String picture, String seconds) throws IOException, InterruptedException {
            Process process = new ProcessBuilder(tool, seconds).redirectErrorStream(true)
                .redirectOutput(new File("/dev/null")).start();
            Incident.adopt(process);
            int code = process.waitFor();
            if (code != 0) {
                throw new IOException(tool + " failed for " + picture);
            }
            return code;
        }
    }

    private final Converter converter = new Converter("sleep");
    private final AtomicLong done = new AtomicLong();

    private void upload(String picture) {
        try {
            converter.resize(picture, "2");
            done.incrementAndGet();
        } catch (IOException e) {
            System.err.println(e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Thumbnails thumbnails = new Thumbnails();
        ExecutorService uploads = Executors.newFixedThreadPool(4);
        for (int i = 0; i < 4; i++) {
            int worker = i;
            uploads.execute(() -> {
                for (int n = 0; !Thread.currentThread().isInterrupted(); n++) {
                    thumbnails.upload("album-" + worker + "/" + n + ".jpg");
                }
            });
        }
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(thumbnails.done::get, 1, 1, TimeUnit.SECONDS);
        Thread.sleep(800);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
