/*
 * healthy: A batch parses log lines with a simple pattern, pauses when it has none left, and spends its little time in what it is for.
 */
package healthy;

import incidents.Incident;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public final class LogParser {
    private static final Pattern LINE = Pattern.compile("(\\d+) (\\w+) \\[([^\\]]*)\\] (.*)");

    private final Map<String, Integer> levels = new HashMap<>();

    private void parse(String line) {
        Matcher matcher = LINE.matcher(line);
        if (matcher.matches()) {
            levels.merge(matcher.group(2), 1, Integer::sum);
        }
    }

    private static List<String> file(int lines) {
        List<String> file = new ArrayList<>();
        for (int i = 0; i < lines; i++) {
            file.add(i + (i % 9 == 0 ? " WARN" : " INFO") + " [worker-" + i % 8 + "] order " + i + " took " + i % 300 + " ms");
        }
        return file;
    }

    private void run() {
        try {
            while (true) {
                file(20_000).forEach(this::parse);
                Thread.sleep(120);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        LogParser parser = new LogParser();
        new Thread(parser::run, "log-parser").start();
        ScheduledExecutorService upload = Executors.newScheduledThreadPool(1);
        upload.scheduleAtFixedRate(System::nanoTime, 1, 1, TimeUnit.SECONDS);
        Thread.sleep(3000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
