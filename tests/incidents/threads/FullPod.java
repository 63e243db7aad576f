/*
 * incident: The container may have 120 threads. A pool without a bound has taken nearly all of them, and soon none can be started any more.
 * names: thread-limit 120
 * threads: 120
 * jfr: none
 */
package threads;

import incidents.Incident;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.CountDownLatch;

public final class FullPod {
    private static final CountDownLatch NEVER = new CountDownLatch(1);

    private static void answer() {
        try {
            NEVER.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static long threads() throws Exception {
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
            if (line.startsWith("Threads:")) {
                return Long.parseLong(line.substring(8).trim());
            }
        }
        throw new IllegalStateException("no number of threads");
    }

    public static void main(String[] args) throws Exception {
        while (threads() < 110) {
            Thread thread = new Thread(FullPod::answer, "request-" + threads());
            thread.setDaemon(true);
            thread.start();
        }
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
