/*
 * incident: A batch made the collector stop everything for a good part of half a minute; it is over when somebody looks.
 * names: before-session of the time; now
 * flags: -Xmx300m -Xmn200m -XX:+UseSerialGC
 * jfr: none
 */
package com.acme.over;

import incidents.Incident;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.TreeMap;

public final class BatchIsOver {
    private static final long QUIET_AFTER_MS = 62_000;

    private static void batch() {
        ArrayDeque<TreeMap<Integer, String>> window = new ArrayDeque<>();
        long began = System.nanoTime();
        for (int number = 0; System.nanoTime() - began < 25_000_000_000L; number++) {
            TreeMap<Integer, String> rows = new TreeMap<>();
            for (int i = 0; i < 1000; i++) {
                rows.put(i * 7919 % 1009, "row " + number + "/" + i);
            }
            window.addLast(rows);
            if (window.size() > 500) {
                window.removeFirst();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        batch();
        Thread.sleep(Math.max(0, QUIET_AFTER_MS - ManagementFactory.getRuntimeMXBean().getUptime()));
        Incident.readyUntilTheEnd();
    }
}
