/*
 * incident: Every request asks one SecureRandom for a token, and all threads wait for its lock.
 * names: lock-contention SecureRandom
 * jfr: jdk.JavaMonitorEnter TokenMint
 */
import incidents.Incident;
import java.security.SecureRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class SessionTokens {
    private static volatile int sum;

    static final class TokenMint {
        private final SecureRandom random = new SecureRandom();

        byte[] mint() {
            byte[] token = new byte[4096];
            synchronized (random) {
                random.nextBytes(token);
            }
            return token;
        }
    }

    public static void main(String[] args) throws Exception {
        TokenMint mint = new TokenMint();
        ExecutorService http = Executors.newFixedThreadPool(12);
        for (int i = 0; i < 12; i++) {
            http.execute(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    sum += mint.mint()[0];
                }
            });
        }
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
