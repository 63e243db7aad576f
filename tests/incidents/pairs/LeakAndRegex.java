/*
 * incident: Log lines are matched by a pattern that explodes, and an audit keeps pages in a list for ever.
 * names: heap-growth|heap-nearly-full LeakAndRegex.keep
 * names: regular-expression LeakAndRegex.isStack
 * flags: -Xmx192m -Xmn8m
 * load: cpu
 * jfr: jdk.ExecutionSample LeakAndRegex.isStack
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

public final class LeakAndRegex {
    private static final Pattern STACK = Pattern.compile("(\\w+\\.?)+:\\d+");

    private final List<char[]> failed = new ArrayList<>();

    private static boolean isStack(String line) {
        return STACK.matcher(line).matches();
    }

    private void keep(String line) {
        char[] page = new char[20_000];
        Arrays.fill(page, line.charAt(0));
        failed.add(page);
    }

    private void readLog() {
        for (int i = 0; ; i++) {
            String line = "org.shop.cart.Cart" + i % 10 + "?";
            if (!isStack(line)) {
                refresh();
            }
        }
    }

    private long refreshed;

    private void refresh() {
        refreshed++;
    }

    private void audit() {
        try {
            for (int i = 0; ; i++) {
                keep("line " + i);
                for (int j = 0; j < 20; j++) {
                    refreshed += new byte[20_000 + j].length;
                }
                Thread.sleep(40);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        LeakAndRegex log = new LeakAndRegex();
        new Thread(log::readLog, "log-reader").start();
        new Thread(log::audit, "audit").start();
        Thread.sleep(600);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
