/*
 * healthy: A pool of 96 threads gets one more with each of its first 96 tasks, as pools of Spark do; then it has all of them.
 */
package com.acme.filling;

import incidents.Incident;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

public final class FillingPool {
    private static final int THREADS = 96;
    private static final long BETWEEN_MS = 150;

    private final LongAdder answered = new LongAdder();
    private final AtomicInteger threads = new AtomicInteger();
    private final ThreadPoolExecutor pool = new ThreadPoolExecutor(
            THREADS, THREADS, 60, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
            work -> new Thread(work, "ask-" + threads.incrementAndGet()));

    private void ask() throws InterruptedException {
        while (true) {
            pool.execute(answered::increment);
            Thread.sleep(BETWEEN_MS);
        }
    }

    public static void main(String[] args) throws Exception {
        FillingPool filling = new FillingPool();
        Incident.start("asks", () -> {
            try {
                filling.ask();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        Incident.readyUntilTheEnd();
    }
}
