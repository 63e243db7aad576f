/*
 * incident: Five hundred connections had a thread each until a minute ago; whoever is called now finds a quiet JVM.
 * names: before-session threads were alive at a time
 * jfr: none
 */
package com.acme.peak;

import incidents.Incident;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

public final class MorningPeak {
    private static final long QUIET_AFTER_MS = 62_000;

    public static void main(String[] args) throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        List<Thread> connections = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            connections.add(Incident.start("connection-" + i, () -> {
                try {
                    over.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }));
        }
        Thread.sleep(2000);
        over.countDown();
        for (Thread connection : connections) {
            connection.join();
        }
        Thread.sleep(QUIET_AFTER_MS - ManagementFactory.getRuntimeMXBean().getUptime());
        Incident.readyUntilTheEnd();
    }
}
