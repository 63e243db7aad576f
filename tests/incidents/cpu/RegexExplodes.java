/*
 * incident: The pattern for host names repeats a repetition, and takes exponential time for names with an underscore at their end.
 * names: regular-expression RegexExplodes.isHost
 * load: cpu
 * jfr: jdk.ExecutionSample RegexExplodes
 */
import incidents.Incident;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;

public final class RegexExplodes {
    private static final Pattern HOST = Pattern.compile("([a-z]+)+$");
    private static final List<String> SEEN =
        Arrays.asList("alpha", "mailrelayofvienna_", "db", "backupserverofgraz_", "proxy");

    private final int[] counts = new int[2];

    private static boolean isHost(String name) {
        return HOST.matcher(name).matches();
    }

    private void check(String name) {
        counts[isHost(name) ? 1 : 0]++;
    }

    private void audit() {
        while (counts[0] >= 0) {
            SEEN.forEach(this::check);
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService idle = Executors.newFixedThreadPool(4);
        for (int i = 0; i < 4; i++) {
            idle.submit(() -> isHost("warm"));
        }
        Thread audit = new Thread(new RegexExplodes()::audit, "audit");
        audit.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
