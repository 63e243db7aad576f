/*
 * incident: One thread holds a monitor and wants a ReentrantLock, another one has it the other way round, and five more queue behind.
 * names: deadlock CacheLoader.load
 * jfr: none
 */
package deadlocks;

import incidents.Incident;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.ReentrantLock;

public final class CacheLoader {
    /** Who must be told when entries change. */
    static final class Registry {
        private final List<String> listeners = new ArrayList<>();

        synchronized void register(String name, CacheLoader loader) {
            listeners.add(name);
            pause();
            loader.load(name);
        }

        synchronized void changed(String key) {
            if (listeners.contains(key)) {
                listeners.remove(key);
            }
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, String> entries = new HashMap<>();
    private final Registry registry;

    CacheLoader(Registry registry) {
        this.registry = registry;
    }

    String load(String key) {
        lock.lock();
        try {
            return entries.computeIfAbsent(key, name -> "value of " + name);
        } finally {
            lock.unlock();
        }
    }

    void evict(String key) {
        lock.lock();
        try {
            entries.remove(key);
            pause();
            registry.changed(key);
        } finally {
            lock.unlock();
        }
    }

    private static void pause() {
        try {
            Thread.sleep(80);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Registry registry = new Registry();
        CacheLoader loader = new CacheLoader(registry);
        new Thread(() -> registry.register("menu", loader), "registrar").start();
        new Thread(() -> loader.evict("menu"), "evictor").start();
        Thread.sleep(300);
        for (int i = 0; i < 5; i++) {
            String key = "page-" + i;
            new Thread(() -> loader.load(key), "http-" + i).start();
        }
        Executors.newFixedThreadPool(2).submit(System::nanoTime);
        Thread.sleep(300);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
