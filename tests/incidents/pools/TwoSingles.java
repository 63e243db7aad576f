/*
 * incident: Two single-threaded executors, one for accounts and one for limits, each wait for a task of the other one.
 * names: starved-pool|deadlock Lane.ask
 * jfr: none
 */
package com.acme.actors;

import incidents.Incident;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class TwoSingles {
    static final class Lane {
        private final ExecutorService thread;

        Lane(String name) {
            thread = Executors.newSingleThreadExecutor(task -> new Thread(task, name));
        }

        <T> T ask(Callable<T> question) {
            try {
                return thread.submit(question).get();
            } catch (InterruptedException | ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private final CountDownLatch both = new CountDownLatch(2);
    private final Lane accounts = new Lane("accounts");
    private final Lane limits = new Lane("limits");

    final class Accounts {
        int balance() {
            meet();
            return limits.ask(() -> 7);
        }
    }

    final class Limits {
        int left() {
            meet();
            return accounts.ask(() -> 8);
        }
    }

    private void meet() {
        both.countDown();
        try {
            both.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        TwoSingles bank = new TwoSingles();
        bank.accounts.thread.submit(() -> bank.new Accounts().balance());
        bank.limits.thread.submit(() -> bank.new Limits().left());
        for (int i = 0; i < 5; i++) {
            int number = i;
            Incident.start("teller-" + i, () -> bank.accounts.ask(() -> number));
        }
        Thread.sleep(600);
        Incident.readyUntilTheEnd();
    }
}
