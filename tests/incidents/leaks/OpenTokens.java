/*
 * incident: A service remembers each token that it has given out, in a set of an object of its own, and forgets none when it ends.
 * names: collection-grows Tokens.open
 * flags: -Xmx1g
 * jfr: none
 */
package leaks;

import incidents.Incident;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class OpenTokens {
    static final class Tokens {
        private final Set<String> open = ConcurrentHashMap.newKeySet();

        String give(long user) {
            String token = "token-" + user;
            open.add(token);
            return token;
        }
    }

    private static final OpenTokens SERVICE = new OpenTokens();

    private final Tokens tokens = new Tokens();
    private long users;

    private void login() {
        for (int i = 0; i < 5; i++) {
            tokens.give(users++);
        }
    }

    public static void main(String[] args) throws Exception {
        ScheduledExecutorService logins = Executors.newScheduledThreadPool(2);
        logins.scheduleAtFixedRate(SERVICE::login, 0, 20, TimeUnit.MILLISECONDS);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
