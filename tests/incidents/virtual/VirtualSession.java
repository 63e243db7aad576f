/*
 * incident: A thousand virtual threads share four sessions that are kept in a blocking queue.
 * names: pool-exhausted|lock-queue Pool.|Ledger.
 * needs: 21
 * jfr: none
 */
package com.acme.ledger;

import incidents.Incident;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

public final class VirtualSession {
    static final class Pool {
        private final BlockingQueue<String> sessions = new ArrayBlockingQueue<>(4);
    }

    static final class Ledger {
        private final Pool pool = new Pool();

        void book(int number) {
            try {
                String session = pool.sessions.take();
                try {
                    Thread.sleep(15 + number % 2);
                } finally {
                    pool.sessions.put(session);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Ledger ledger = new Ledger();
        for (int i = 0; i < 4; i++) {
            ledger.pool.sessions.put("session-" + i);
        }
        for (int i = 0; i < 1000; i++) {
            Incident.virtual(() -> {
                for (int number = 0; ; number++) {
                    ledger.book(number);
                }
            });
        }
        Thread.sleep(1000);
        Incident.readyUntilTheEnd();
    }
}
