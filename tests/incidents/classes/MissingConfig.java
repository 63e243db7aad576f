/*
 * incident: The static initialiser of the settings failed once at start-up, and since then each request dies with a NoClassDefFoundError.
 * names: class-init-errors Settings
 * jfr: jdk.JavaErrorThrow NoClassDefFoundError
 */
package classes;

import incidents.Incident;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public final class MissingConfig {
    static final class Settings {
        private static final Map<String, String> VALUES = read(System.getProperty("shop.settings"));

        private static Map<String, String> read(String file) {
            if (file.isEmpty()) {
                return Map.of();
            }
            return Map.of("currency", "EUR", "file", file);
        }

        static String get(String key) {
            return VALUES.get(key);
        }
    }

    private int failed;

    private String total(int cents) {
        return cents / 100 + "." + cents % 100 + " " + Settings.get("currency");
    }

    private void request(int number) {
        try {
            total(number * 17);
        } catch (LinkageError e) {
            // The framework answers with status 500, and counts.
            failed++;
        }
    }

    private void serve() {
        try {
            for (int number = 0; ; number++) {
                request(number);
                Thread.sleep(20);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        MissingConfig shop = new MissingConfig();
        for (int i = 0; i < 2; i++) {
            Thread server = new Thread(shop::serve, "http-" + i);
            server.setDaemon(true);
            server.start();
        }
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(() -> Objects.hash(shop.failed), 1, 1, TimeUnit.SECONDS);
        Thread.sleep(800);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
