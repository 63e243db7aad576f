/*
 * incident: Each scan is read into an array larger than half a region of G1, and each page is checked by a new short-lived thread.
 * names: humongous HumongousAndChurn.readScan
 * names: thread-churn HumongousAndChurn.check
 * flags: -XX:+UseG1GC -Xmx200m
 * jfr: jdk.ThreadStart HumongousAndChurn
 */
import incidents.Incident;
import java.util.concurrent.atomic.LongAdder;

public final class HumongousAndChurn {
    private final LongAdder ink = new LongAdder();
    private int scans;

    private static int[] readScan(int number) {
        int[] pixels = new int[600_000];
        pixels[number % pixels.length] = 1;
        return pixels;
    }

    private void measure(int[] pixels, int from) {
        for (int i = from; i < from + 1000; i++) {
            ink.add(pixels[i]);
        }
    }

    private void check(int[] pixels) {
        for (int page = 0; page < 6; page++) {
            int from = page * 1000;
            new Thread(() -> measure(pixels, from), "page-check").start();
        }
    }

    private void scan() {
        try {
            while (true) {
                check(readScan(scans++));
                Thread.sleep(45);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new HumongousAndChurn()::scan, "scanner").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
