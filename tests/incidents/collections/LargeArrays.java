/*
 * incident: Every picture is read into a byte array of 3 MB, which is larger than half a region of G1.
 * names: humongous LargeArrays.read
 * flags: -XX:+UseG1GC -Xmx256m
 * jfr: jdk.GarbageCollection Humongous
 */
import incidents.Incident;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

public final class LargeArrays {
    private static volatile long checksum;

    private static byte[] read(int picture) {
        byte[] bytes = new byte[3_000_000 + picture % 7 * 1000];
        bytes[0] = (byte) picture;
        bytes[bytes.length - 1] = 1;
        return bytes;
    }

    private static long hash(byte[] bytes) {
        long sum = 0;
        for (int i = 0; i < bytes.length; i += 512) {
            sum = sum * 31 + bytes[i];
        }
        return sum;
    }

    private static void index(int picture) {
        checksum += hash(read(picture));
    }

    public static void main(String[] args) throws Exception {
        ThreadPoolExecutor readers = new ThreadPoolExecutor(2, 2, 1, TimeUnit.HOURS, new LinkedBlockingQueue<>(50));
        Thread scanner = new Thread(() -> {
            try {
                for (int i = 0; ; i++) {
                    int picture = i;
                    readers.execute(() -> index(picture));
                    Thread.sleep(25);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "scanner");
        scanner.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
