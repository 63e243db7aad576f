/*
 * incident: A handler of java.util.logging formats slowly under its lock, and nine services wait to log a line.
 * names: lock-contention|lock-chain|lock-queue Audit.note|MaskingFormatter.|Handler.publish
 * until: 21
 * jfr: jdk.JavaMonitorEnter publish
 */
package de.kontor.logging;

import incidents.Incident;
import java.io.OutputStream;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;

public final class LogHandler {
    static final class MaskingFormatter extends Formatter {
        @Override
        public String format(LogRecord record) {
            // It asks a vault which words are secret.
            Incident.sleep(8);
            return record.getLevel() + " " + formatMessage(record) + "\n";
        }
    }

    static final class Audit {
        private final Logger logger = Logger.getLogger("audit");

        Audit() {
            logger.setUseParentHandlers(false);
            logger.addHandler(new StreamHandler(OutputStream.nullOutputStream(), new MaskingFormatter()));
        }

        void note(String who, int what) {
            logger.log(Level.INFO, "{0} did {1}", new Object[] {who, what});
        }
    }

    public static void main(String[] args) throws Exception {
        Audit audit = new Audit();
        for (int i = 0; i < 9; i++) {
            String name = "service-" + i;
            Incident.start(name, () -> {
                for (int n = 0; ; n++) {
                    audit.note(name, n);
                    Incident.sleep(5);
                }
            });
        }
        Thread.sleep(500);
        Incident.readyUntilTheEnd();
    }
}
