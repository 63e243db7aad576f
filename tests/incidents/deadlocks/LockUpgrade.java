/*
 * incident: Threads that hold the read lock ask for the write lock, which waits for all readers, and so for themselves.
 * names: deadlock|lock-queue SettingsStore.
 * jfr: none
 */
package com.acme.settings;

import incidents.Incident;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public final class LockUpgrade {
    static final class SettingsStore {
        private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        private final Map<String, String> values = new HashMap<>();

        String get(String key) {
            lock.readLock().lock();
            try {
                String value = values.get(key);
                return value == null ? fill(key) : value;
            } finally {
                lock.readLock().unlock();
            }
        }

        private String fill(String key) {
            lock.writeLock().lock();
            try {
                return values.computeIfAbsent(key, k -> "default of " + k);
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        SettingsStore store = new SettingsStore();
        for (int i = 0; i < 5; i++) {
            int number = i;
            Incident.start("page-" + i, () -> store.get("colour." + number));
        }
        Thread.sleep(500);
        Incident.readyUntilTheEnd();
    }
}
