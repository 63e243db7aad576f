/*
 * incident: All requests print to one stream whose target is slow, and queue for the stream's own lock.
 * names: lock-contention|lock-queue|lock-chain AuditStream.record
 */
package locks;

import incidents.Incident;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadPoolExecutor;

public final class AuditStream {
    /** Sends each block to a collector far away. */
    static final class Remote extends OutputStream {
        private long sent;

        @Override
        public void write(int b) {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            sent += length;
            try {
                Thread.sleep(15);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private final PrintStream audit = new PrintStream(new Remote(), true);

    private void record(String user, String action, long id) {
        audit.println(System.currentTimeMillis() + " " + user + " " + action + " " + id);
    }

    private void handle(String user) {
        for (long id = 0; !Thread.currentThread().isInterrupted(); id++) {
            record(user, "opened", id);
            compute(id);
            record(user, "closed", id);
        }
    }

    private static double compute(long id) {
        double sum = 0;
        for (int i = 1; i < 2000; i++) {
            sum += Math.sqrt(id + i);
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        AuditStream service = new AuditStream();
        ThreadPoolExecutor requests = (ThreadPoolExecutor) Executors.newFixedThreadPool(10);
        for (String user : List.of("ada", "ben", "cleo", "dan", "eve", "fay", "gus", "hal", "ivy", "jon")) {
            requests.execute(() -> service.handle(user));
        }
        Timer timer = new Timer("metrics", true);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                requests.getActiveCount();
            }
        }, 500, 500);
        Thread.sleep(800);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
