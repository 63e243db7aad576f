/*
 * incident: Visits are appended to a deque for a statistic that nobody reads, and nobody trims it.
 * names: heap-growth|heap-nearly-full SessionDeque
 * flags: -Xmx160m -XX:+UseSerialGC -Xmn6m
 * jfr: jdk.OldObjectSample SessionDeque
 */
import incidents.Incident;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.StringJoiner;
import java.util.Timer;
import java.util.TimerTask;

public final class SessionDeque {
    static final class Visit {
        private final String path;
        private final String agent;
        private final byte[] cookies = new byte[1500];

        Visit(String path, String agent) {
            this.path = path;
            this.agent = agent;
        }

        int weight() {
            return path.length() + agent.length() + cookies.length;
        }
    }

    private final Deque<Visit> visits = new ArrayDeque<>();
    private long weight;

    private void login(int user) {
        Visit visit = new Visit("/home/" + user, "browser " + user % 9);
        visits.addLast(visit);
        weight += visit.weight();
    }

    private static String page(int user) {
        StringJoiner page = new StringJoiner("\n");
        for (int i = 0; i < 100; i++) {
            page.add("entry " + (user + i));
        }
        return page.toString();
    }

    private void minute() {
        for (int i = 0; i < 10; i++) {
            login(page(i).length() + i);
        }
    }

    public static void main(String[] args) throws Exception {
        SessionDeque site = new SessionDeque();
        new Timer("visits").schedule(new TimerTask() {
            @Override
            public void run() {
                site.minute();
            }
        }, 0, 20);
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
