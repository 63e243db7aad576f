/*
 * incident: Sessions are put into a static map at login, and nobody ever takes them out again.
 * names: collection-grows|heap-growth|heap-nearly-full Sessions.ACTIVE|Sessions.login|Sessions$Session
 * flags: -Xmx160m
 * jfr: jdk.OldObjectSample Sessions
 */
package leaks;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class Sessions {
    private static final Map<String, Session> ACTIVE = new ConcurrentHashMap<>();

    static final class Session {
        private final String user;
        private final byte[] ticket = new byte[2048];
        private final List<String> rights = new ArrayList<>();

        Session(String user) {
            this.user = user;
            for (int i = 0; i < 12; i++) {
                rights.add("right-" + i + "-" + user);
            }
        }

        boolean may(String right) {
            return rights.contains(right) && ticket.length > 0 && !user.isEmpty();
        }
    }

    static Session login(String user) {
        Session session = new Session(user);
        ACTIVE.put(UUID.randomUUID().toString(), session);
        return session;
    }

    /** What a request makes and forgets again. */
    private static int render(Session session) {
        StringBuilder page = new StringBuilder(40_000);
        for (int i = 0; i < 200; i++) {
            page.append("<li>").append(session.user).append(i).append("</li>");
        }
        return page.toString().length();
    }

    private static void requests() {
        for (int i = 0; i < 12; i++) {
            Session session = login("user-" + ACTIVE.size());
            for (int page = 0; page < 3; page++) {
                if (session.may("right-3-" + session.user) && render(session) < 0) {
                    throw new IllegalStateException();
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ScheduledExecutorService web = Executors.newScheduledThreadPool(2);
        web.scheduleAtFixedRate(Sessions::requests, 0, 40, TimeUnit.MILLISECONDS);
        Thread.sleep(2000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
