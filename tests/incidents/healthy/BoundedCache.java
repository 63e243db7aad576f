/*
 * healthy: A cache of the 2000 pages used last, in a heap of 128 MB with room; its garbage is collected now and then.
 * flags: -Xmx128m
 */
import incidents.Incident;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

public final class BoundedCache {
    static final class Lru extends LinkedHashMap<Integer, byte[]> {
        private static final long serialVersionUID = 1;

        Lru() {
            super(256, 0.75f, true);
        }

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, byte[]> eldest) {
            return size() > 2000;
        }
    }

    private final Lru pages = new Lru();
    private final Random random = new Random(11);
    private long served;

    private byte[] load(int number) {
        byte[] page = new byte[4000];
        page[0] = (byte) number;
        return page;
    }

    private void request(int number) {
        served += pages.computeIfAbsent(number, this::load).length;
    }

    private void serve() {
        try {
            while (true) {
                for (int i = 0; i < 40; i++) {
                    request((int) Math.abs(random.nextGaussian() * 2500));
                }
                Thread.sleep(10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        BoundedCache cache = new BoundedCache();
        for (int i = 0; i < 30_000; i++) {
            cache.request((int) Math.abs(cache.random.nextGaussian() * 2500));
        }
        new Thread(cache::serve, "pages").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
