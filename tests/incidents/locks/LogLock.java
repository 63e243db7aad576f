/*
 * incident: All workers write their log lines to one PrintStream, and the stream below it is slow, so they queue for the stream's lock.
 * names: lock-contention|lock-chain|lock-queue AuditLog.line
 * jfr: jdk.JavaMonitorEnter AuditLog.line
 */
package locks;

import incidents.Incident;
import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

public final class LogLock {
    /** A terminal of old. */
    static final class SlowTerminal extends FilterOutputStream {
        SlowTerminal(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            LockSupport.parkNanos(200_000L * length);
            out.write(bytes, offset, length);
        }
    }

    static final class AuditLog {
        private final PrintStream stream;

        AuditLog(OutputStream out) {
            stream = new PrintStream(out, true, StandardCharsets.UTF_8);
        }

        void line(String user, String action, long number) {
            String text = String.format(Locale.ROOT, "%-8s %s order %d", user, action, number);
            stream.println(text);
        }
    }

    private final AuditLog log;

    private LogLock(AuditLog log) {
        this.log = log;
    }

    private void work(int user) {
        long number = user * 1000L;
        while (!Thread.interrupted()) {
            log.line("user" + user, "opens", number);
            log.line("user" + user, "closes", number++);
        }
    }

    public static void main(String[] args) throws Exception {
        OutputStream file = Files.newOutputStream(Incident.temporaryFile("audit", ".log"));
        LogLock service = new LogLock(new AuditLog(new BufferedOutputStream(new SlowTerminal(file), 64)));
        ThreadGroup users = new ThreadGroup("users");
        for (int i = 0; i < 9; i++) {
            int user = i;
            new Thread(users, () -> service.work(user), "user-" + user).start();
        }
        Thread.sleep(300);
        Incident.ready();
        while (users.activeCount() > 0) {
            Thread.sleep(1000);
        }
    }
}
