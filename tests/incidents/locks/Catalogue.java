/*
 * incident: The importer keeps the write lock of the catalogue for most of each second, and all who read wait for it.
 * names: lock-queue Catalogue.find
 * jfr: jdk.ThreadPark Catalogue.find
 */
package locks;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;

public final class Catalogue {
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final TreeMap<String, Integer> articles = new TreeMap<>();

    Integer find(String article) {
        lock.readLock().lock();
        try {
            return articles.get(article);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Takes a batch over, all or nothing. */
    void importBatch(List<String> batch, Consumer<String> check) {
        lock.writeLock().lock();
        try {
            for (String article : batch) {
                check.accept(article);
                articles.merge(article, 1, Integer::sum);
            }
        } finally {
            lock.writeLock().unlock();
        }
    }

    private static void askSupplier(String article) {
        try {
            Thread.sleep(article.isEmpty() ? 0 : 45);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void browse(Catalogue catalogue) {
        for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
            catalogue.find("article-" + i % 300);
            LockSupport.parkNanos(5_000_000);
        }
    }

    public static void main(String[] args) throws Exception {
        Catalogue catalogue = new Catalogue();
        List<String> batch = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            batch.add("article-" + i);
        }
        ScheduledExecutorService importer = Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "importer"));
        importer.scheduleWithFixedDelay(() -> catalogue.importBatch(batch, Catalogue::askSupplier), 0, 60, TimeUnit.MILLISECONDS);
        for (int i = 0; i < 10; i++) {
            Thread reader = new Thread(() -> browse(catalogue), "web-" + i);
            reader.setDaemon(true);
            reader.start();
        }
        Thread.sleep(700);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
