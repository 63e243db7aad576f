/*
 * incident: Readers of a read-write lock overlap all the time, so the thread that publishes new rules never gets its turn for long.
 * names: lock-queue RuleBook.
 * jfr: jdk.ThreadPark RuleBook
 */
package com.acme.rules;

import incidents.Incident;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

public final class WriterStarves {
    static final class RuleBook {
        private final ReadWriteLock lock = new ReentrantReadWriteLock();
        private Map<String, Integer> rules = new HashMap<>();

        int evaluate(String name) {
            lock.readLock().lock();
            try {
                Incident.sleep(40);
                return rules.getOrDefault(name, 0);
            } finally {
                lock.readLock().unlock();
            }
        }

        void publish(String name, int value) {
            lock.writeLock().lock();
            try {
                Map<String, Integer> copy = new HashMap<>(rules);
                copy.put(name, value);
                rules = copy;
                Incident.sleep(60);
            } finally {
                lock.writeLock().unlock();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        RuleBook book = new RuleBook();
        for (int i = 0; i < 6; i++) {
            int number = i;
            Incident.start("evaluator-" + i, () -> {
                while (true) {
                    book.evaluate("rule-" + number);
                }
            });
        }
        Incident.start("publisher", () -> {
            for (int n = 0; ; n++) {
                book.publish("rule-" + n % 6, n);
            }
        });
        Thread.sleep(500);
        Incident.readyUntilTheEnd();
    }
}
