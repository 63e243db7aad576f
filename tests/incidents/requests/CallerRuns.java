/*
 * incident: The executor of a server is full, and its policy lets the thread that accepts run each request that is refused.
 * names: executor-backlog|slow-dispatcher Work.|Acceptor.
 * jfr: jdk.ThreadSleep Work.render
 */
package com.acme.gate;

import incidents.Incident;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

public final class CallerRuns {
    static final class Work implements Runnable {
        @Override
        public void run() {
            render();
        }

        private void render() {
            try {
                Thread.sleep(120);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    static final class Acceptor implements Runnable {
        private final ThreadPoolExecutor workers = new ThreadPoolExecutor(3, 3, 1, TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(6), new ThreadPoolExecutor.CallerRunsPolicy());

        @Override
        public void run() {
            while (true) {
                workers.execute(new Work());
                Incident.sleep(10);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Incident.start("acceptor", new Acceptor());
        Thread.sleep(700);
        Incident.readyUntilTheEnd();
    }
}
