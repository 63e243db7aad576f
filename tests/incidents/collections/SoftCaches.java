/*
 * incident: Every computed page is kept by a soft reference, so that the heap is always full and each collection has them all to look at.
 * names: gc-full|gc-share|cpu-gc|heap-nearly-full *
 * flags: -Xmx96m -XX:+UseParallelGC
 * load: cpu
 * jfr: jdk.GarbageCollection ParallelOld
 */
import incidents.Incident;
import java.lang.ref.SoftReference;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;

public final class SoftCaches {
    private final Map<Integer, SoftReference<byte[]>> pages = new HashMap<>();
    private final Map<Object, Integer> visitors = new WeakHashMap<>();
    private long bytes;

    private byte[] page(int number) {
        SoftReference<byte[]> kept = pages.get(number);
        byte[] page = kept == null ? null : kept.get();
        if (page == null) {
            page = render(number);
            pages.put(number, new SoftReference<>(page));
        }
        return page;
    }

    private static byte[] render(int number) {
        byte[] page = new byte[900 + number % 200];
        page[0] = (byte) number;
        return page;
    }

    private void visit(int number) {
        visitors.put(new Object(), number);
        bytes += page(number).length;
    }

    private void crawl() {
        for (int number = 0; bytes >= 0; number = (number + 1) % 150_000) {
            visit(number);
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new SoftCaches()::crawl, "crawler").start();
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
