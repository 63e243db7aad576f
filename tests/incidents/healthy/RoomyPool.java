/*
 * healthy: Eight workers share eight connections of a blocking queue, so that nobody waits long; consumers of events wait for the next burst.
 */
package com.acme.roomy;

import incidents.Incident;
import java.util.concurrent.LinkedBlockingQueue;

public final class RoomyPool {
    static final class Connections {
        private final LinkedBlockingQueue<Integer> free = new LinkedBlockingQueue<>();

        void with(int ms) throws InterruptedException {
            Integer connection = free.take();
            try {
                Thread.sleep(ms);
            } finally {
                free.put(connection);
            }
        }
    }

    static final class Events {
        private final LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>();

        void handle() throws InterruptedException {
            while (true) {
                Integer event = queue.take();
                Thread.sleep(event % 3);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Connections connections = new Connections();
        Events events = new Events();
        for (int i = 0; i < 8; i++) {
            connections.free.put(i);
            Incident.start("worker-" + i, () -> {
                try {
                    while (true) {
                        connections.with(5);
                        Thread.sleep(20);
                    }
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            Incident.start("event-" + i, () -> {
                try {
                    events.handle();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
        Incident.start("bursts", () -> {
            for (int n = 0; ; n++) {
                events.queue.add(n);
                if (n % 16 == 0) {
                    Incident.sleep(150);
                }
            }
        });
        Thread.sleep(1000);
        Incident.readyUntilTheEnd();
    }
}
