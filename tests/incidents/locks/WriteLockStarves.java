/*
 * incident: The catalogue is indexed again and again under the write lock, for 300 ms each time, and all searches wait for their read lock.
 * names: lock-queue Catalog.reindex
 * jfr: jdk.ThreadPark Catalog.find
 */
package locks;

import incidents.Incident;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public final class WriteLockStarves {
    static final class Catalog {
        private final ReadWriteLock lock = new ReentrantReadWriteLock();
        private Map<String, List<Integer>> index = new HashMap<>();

        List<Integer> find(String word) {
            lock.readLock().lock();
            try {
                return index.getOrDefault(word, Collections.emptyList());
            } finally {
                lock.readLock().unlock();
            }
        }

        void reindex(int pages) throws InterruptedException {
            lock.writeLock().lock();
            try {
                Map<String, List<Integer>> fresh = new HashMap<>();
                for (int page = 0; page < pages; page++) {
                    fresh.put("word" + page % 10, List.of(page));
                    TimeUnit.MILLISECONDS.sleep(30);
                }
                index = fresh;
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    private static void search(Catalog catalog, int visitor) {
        int hits = 0;
        try {
            for (int i = 0; hits >= 0; i++) {
                hits = catalog.find("word" + (visitor + i) % 10).size();
                Thread.sleep(3);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void indexForEver(Catalog catalog) {
        try {
            while (true) {
                catalog.reindex(10);
                Thread.sleep(20);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Catalog catalog = new Catalog();
        new Thread(() -> indexForEver(catalog), "indexer").start();
        for (int i = 0; i < 7; i++) {
            int visitor = i;
            new Thread(() -> search(catalog, visitor), "search-" + visitor).start();
        }
        Thread.sleep(500);
        Incident.ready();
    }
}
