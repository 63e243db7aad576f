/*
 * incident: Virtual threads compute without a pause and keep all carriers, so those that answer requests wait for one.
 * names: cpu-hot-method|cpu-hot-line Pattern.mismatch
 * needs: 21
 * load: cpu
 * jfr: jdk.ExecutionSample Pattern.mismatch
 */
package virtual;

import incidents.Incident;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicLong;

public final class CarriersBusy {
    /** Looks for the place of an image in another one. */
    static final class Pattern {
        private final int[] image = new int[4096];
        private final int[] part = new int[512];

        Pattern(int seed) {
            for (int i = 0; i < image.length; i++) {
                image[i] = (i * 31 + seed) % 97;
            }
            System.arraycopy(image, 2000, part, 0, part.length);
        }

        int best() {
            int best = 0;
            long least = Long.MAX_VALUE;
            for (int at = 0; at < image.length - part.length; at++) {
                long mismatch = mismatch(at);
                if (mismatch < least) {
                    least = mismatch;
                    best = at;
                }
            }
            return best;
        }

        private long mismatch(int at) {
            long sum = 0;
            for (int i = 0; i < part.length; i++) {
                long difference = image[at + i] - part[i];
                sum += difference * difference;
            }
            return sum;
        }
    }

    private final AtomicLong found = new AtomicLong();
    private final AtomicLong answered = new AtomicLong();

    private void search(int seed) {
        Pattern pattern = new Pattern(seed);
        while (found.addAndGet(pattern.best()) > 0) {
            pattern.part[seed % 512]++;
        }
    }

    private void answer() {
        try {
            while (answered.incrementAndGet() > 0) {
                Thread.sleep(10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        CarriersBusy service = new CarriersBusy();
        ExecutorService threads = Incident.virtualExecutor();
        for (int i = 0; i < 20; i++) {
            threads.submit(service::answer);
        }
        Thread.sleep(300);
        for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++) {
            int seed = i;
            threads.submit(() -> service.search(seed));
        }
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
