/*
 * incident: Uploads offer their pictures to a deque of two places with a long time limit, and the scanner at its end is slow.
 * names: full-queue ImageFeed.submit
 * jfr: jdk.ThreadPark ImageFeed.submit
 */
package queues;

import incidents.Incident;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

public final class ImageFeed {
    static final class VirusScanner {
        int scan(byte[] picture) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(350));
            return Arrays.hashCode(picture);
        }
    }

    private final BlockingDeque<byte[]> pending = new LinkedBlockingDeque<>(2);
    private final VirusScanner scanner = new VirusScanner();

    private boolean submit(byte[] picture) throws InterruptedException {
        return pending.offerLast(picture, 2, TimeUnit.MINUTES);
    }

    private void upload(String user) {
        try {
            for (int i = 0; submit((user + i).getBytes(StandardCharsets.UTF_8)); i++) {
                Thread.sleep(5);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void scanAll() {
        int checks = 0;
        try {
            while (true) {
                checks ^= scanner.scan(pending.takeFirst());
            }
        } catch (InterruptedException e) {
            System.err.println("scanner stopped " + checks);
        }
    }

    public static void main(String[] args) throws Exception {
        ImageFeed feed = new ImageFeed();
        ExecutorService uploads = Executors.newFixedThreadPool(5);
        for (String user : List.of("kim", "lee", "max", "noa", "oda")) {
            uploads.execute(() -> feed.upload(user));
        }
        Thread scan = new Thread(feed::scanAll, "scan");
        scan.setDaemon(true);
        scan.start();
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(feed.pending::size, 1, 1, TimeUnit.SECONDS);
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
