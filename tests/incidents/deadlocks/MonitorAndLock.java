/*
 * incident: The cache calls its listener with its lock held, the listener is synchronized, and while it is registered it asks the cache.
 * names: deadlock Screen.
 * jfr: jdk.ThreadDump Java-level deadlock
 */
package deadlocks;

import incidents.Incident;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public final class MonitorAndLock {
    static final class Cache {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private final Map<String, String> values = new HashMap<>();
        private final Screen screen;

        Cache(Screen screen) {
            this.screen = screen;
        }

        void put(String key, String value) throws InterruptedException {
            lock.writeLock().lock();
            try {
                values.put(key, value);
                Thread.sleep(50);
                screen.changed(key);
            } finally {
                lock.writeLock().unlock();
            }
        }

        String get(String key) {
            lock.readLock().lock();
            try {
                return values.get(key);
            } finally {
                lock.readLock().unlock();
            }
        }
    }

    static final class Screen {
        private String shown = "";

        synchronized void changed(String key) {
            shown = key;
        }

        synchronized void repaint(Cache cache) throws InterruptedException {
            Thread.sleep(50);
            shown = fetch(cache);
        }

        private String fetch(Cache cache) {
            return cache.get("title");
        }
    }

    public static void main(String[] args) throws Exception {
        Screen screen = new Screen();
        Cache cache = new Cache(screen);
        ExecutorService events = Executors.newCachedThreadPool();
        events.submit(() -> {
            while (true) {
                cache.put("title", "page " + System.nanoTime());
            }
        });
        events.submit(() -> {
            while (true) {
                screen.repaint(cache);
            }
        });
        Thread.sleep(600);
        for (int i = 0; i < 3; i++) {
            events.submit(() -> cache.get("footer"));
        }
        events.submit(() -> screen.changed("menu"));
        Thread.sleep(200);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
