/*
 * incident: A limit of twenty mails a second, which somebody has set long ago, keeps sixteen threads waiting.
 * names: pool-exhausted MailQuota.send
 * jars: libguava-java/guava
 */
package libraries;

import com.google.common.util.concurrent.RateLimiter;
import incidents.Incident;

public final class MailQuota {
    private final RateLimiter quota = RateLimiter.create(20);
    private volatile long sent;

    private void send() {
        quota.acquire();
        sent++;
    }

    private void work() {
        while (true) {
            send();
        }
    }

    public static void main(String[] args) {
        MailQuota mails = new MailQuota();
        for (int i = 0; i < 16; i++) {
            Incident.start("mail-" + i, mails::work);
        }
        Incident.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
