/*
 * incident: Sixteen request threads borrow one of three connections from a pool that hands them over at a queue without capacity.
 * names: pool-exhausted|lock-queue ConnectionBag.borrow|Repository.
 * jfr: jdk.ThreadPark ConnectionBag
 */
package com.fjord.pool;

import incidents.Incident;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public final class HandOffPool {
    static final class Entry {
        final AtomicInteger state = new AtomicInteger();

        void execute(String sql) {
            Incident.sleep(12 + sql.length() % 3);
        }
    }

    static final class ConnectionBag {
        private final CopyOnWriteArrayList<Entry> entries = new CopyOnWriteArrayList<>();
        private final SynchronousQueue<Entry> handOff = new SynchronousQueue<>(true);
        private final AtomicInteger waiters = new AtomicInteger();

        Entry borrow(long timeoutMs) throws InterruptedException {
            waiters.incrementAndGet();
            try {
                for (Entry entry : entries) {
                    if (entry.state.compareAndSet(0, 1)) {
                        return entry;
                    }
                }
                long left = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
                while (left > 0) {
                    long start = System.nanoTime();
                    Entry entry = handOff.poll(left, TimeUnit.NANOSECONDS);
                    if (entry == null || entry.state.compareAndSet(0, 1)) {
                        return entry;
                    }
                    left -= System.nanoTime() - start;
                }
                return null;
            } finally {
                waiters.decrementAndGet();
            }
        }

        void giveBack(Entry entry) {
            entry.state.set(0);
            for (int i = 0; waiters.get() > 0; i++) {
                if (entry.state.get() != 0 || handOff.offer(entry)) {
                    return;
                }
                Thread.yield();
            }
        }
    }

    static final class Repository {
        private final ConnectionBag bag = new ConnectionBag();

        int save(int id) throws InterruptedException {
            Entry entry = bag.borrow(30_000);
            try {
                entry.execute("insert into visit values (" + id + ")");
                return id;
            } finally {
                bag.giveBack(entry);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Repository repository = new Repository();
        for (int i = 0; i < 3; i++) {
            repository.bag.entries.add(new Entry());
        }
        for (int i = 0; i < 16; i++) {
            int number = i;
            Incident.start("http-exec-" + number, () -> {
                try {
                    for (int id = number; ; id++) {
                        repository.save(id);
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        Thread.sleep(500);
        Incident.readyUntilTheEnd();
    }
}
