/*
 * incident: Requests queue for the lock of the session table, which is held for 8 ms, and the audit threads force each line to the disk.
 * names: lock-queue SessionTable.touch
 * names: slow-disk AuditFile.write
 * disk: slow
 * jfr: jdk.ThreadPark SessionTable.touch
 */
package pairs;

import incidents.Incident;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

public final class LockAndDisk {
    static final class SessionTable {
        private final ReentrantLock lock = new ReentrantLock();
        private final Map<String, Long> lastSeen = new HashMap<>();

        void touch(String session) throws InterruptedException {
            lock.lock();
            try {
                lastSeen.put(session, System.nanoTime());
                expire();
            } finally {
                lock.unlock();
            }
        }

        private void expire() throws InterruptedException {
            lastSeen.values().removeIf(time -> System.nanoTime() - time > 60_000_000_000L);
            Thread.sleep(8);
        }
    }

    static final class AuditFile {
        private final FileOutputStream out;

        AuditFile(Path path) throws IOException {
            out = new FileOutputStream(path.toFile());
        }

        void write(String line) throws IOException {
            if (out.getChannel().position() > 100_000) {
                out.getChannel().truncate(0);
            }
            out.write(line.getBytes());
            out.getChannel().force(true);
        }
    }

    public static void main(String[] args) throws Exception {
        SessionTable sessions = new SessionTable();
        ExecutorService requests = Executors.newFixedThreadPool(6);
        for (int i = 0; i < 6; i++) {
            String user = "user-" + i;
            requests.submit(() -> {
                for (int page = 0; ; page++) {
                    sessions.touch(user + "/" + page % 5);
                }
            });
        }
        ExecutorService audit = Executors.newFixedThreadPool(3);
        for (int i = 0; i < 3; i++) {
            AuditFile file = new AuditFile(Incident.temporaryFile("audit" + i, ".log"));
            audit.submit(() -> {
                for (long line = 0; ; line++) {
                    file.write("login " + line + "\n");
                    Thread.sleep(6);
                }
            });
        }
        Thread.sleep(400);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
