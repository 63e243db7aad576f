/*
 * incident: A child process fills its standard output, which nobody reads, while the parent waits for its end: both for ever.
 * names: slow-process Converter.run
 * jfr: none
 */
package processes;

import incidents.Incident;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class Converter {
    private static void run(List<String> command, Path target) throws IOException, InterruptedException {
        Process process = Incident.adopt(new ProcessBuilder(command).redirectErrorStream(true).start());
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + " failed");
        }
        // Only now, when it is too late.
        Files.copy(process.getInputStream(), target);
    }

    /** What it calls: talks more than a pipe holds. */
    static final class Tool {
        public static void main(String[] args) {
            PrintStream out = new PrintStream(System.out);
            for (int page = 0; page < 100_000; page++) {
                out.println("converting page " + page + " of " + args[0]);
            }
        }
    }

    private static void convert(Path folder, String document) {
        try {
            run(Incident.command(Tool.class, document), folder.resolve(document + ".pdf"));
        } catch (IOException e) {
            System.err.println(document + ": " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Path folder = Incident.temporaryFolder("converted");
        ExecutorService converters = Executors.newFixedThreadPool(2);
        for (String document : List.of("invoice", "offer", "contract")) {
            converters.execute(() -> convert(folder, document));
        }
        ScheduledExecutorService scan = Executors.newScheduledThreadPool(1);
        scan.scheduleWithFixedDelay(() -> folder.toFile().list(), 0, 300, TimeUnit.MILLISECONDS);
        Thread.sleep(2500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
