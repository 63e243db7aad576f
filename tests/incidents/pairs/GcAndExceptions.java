/*
 * incident: A cache calls System.gc() whenever it was emptied, and a lookup tells by an exception that there is no such entry.
 * names: gc-explicit PageCache.clear
 * names: exceptions NoSuchPage
 * flags: -Xmx96m
 * load: cpu
 * jfr: jdk.GarbageCollection System.gc()
 */
import incidents.Incident;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public final class GcAndExceptions {
    static final class NoSuchPage extends RuntimeException {
        NoSuchPage(int number) {
            super("page " + number);
        }
    }

    static final class PageCache {
        private final ConcurrentHashMap<Integer, String> pages = new ConcurrentHashMap<>();

        String find(int number) {
            String page = pages.get(number);
            if (page == null) {
                throw new NoSuchPage(number);
            }
            return page;
        }

        void clear() {
            pages.clear();
            System.gc();
        }
    }

    private final PageCache cache = new PageCache();
    private long missing;

    private boolean has(int number) {
        try {
            return !cache.find(number).isEmpty();
        } catch (NoSuchPage e) {
            missing++;
            return false;
        }
    }

    private void crawl(int depth) {
        if (depth > 0) {
            crawl(depth - 1);
            return;
        }
        for (int number = 0; missing >= 0; number++) {
            if (!has(number) && number % 50_000 == 0) {
                cache.pages.put(number, "page");
            }
        }
    }

    public static void main(String[] args) throws Exception {
        GcAndExceptions site = new GcAndExceptions();
        new Thread(() -> site.crawl(30), "crawler").start();
        Executors.newSingleThreadScheduledExecutor()
            .scheduleWithFixedDelay(site.cache::clear, 0, 250, TimeUnit.MILLISECONDS);
        Thread.sleep(600);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
