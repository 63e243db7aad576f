/*
 * incident: A batch links its rows into lists that live a second in a large young generation; each young collection copies them.
 * names: gc-long-pause|gc-share|cpu-gc Batch.|Copy|Allocation|Scavenge|*
 * flags: -Xmx900m -Xmn500m -XX:+UseSerialGC
 * load: cpu
 * jfr: jdk.GarbageCollection longestPause
 */
package com.acme.nightly;

import incidents.Incident;
import java.util.ArrayDeque;
import java.util.TreeMap;

public final class SurvivingBatch {
    static final class Batch {
        private final ArrayDeque<TreeMap<Integer, String>> window = new ArrayDeque<>();

        void step(int number) {
            TreeMap<Integer, String> rows = new TreeMap<>();
            for (int i = 0; i < 1000; i++) {
                rows.put(i * 7919 % 1009, "row " + number + "/" + i);
            }
            window.addLast(rows);
            if (window.size() > 1200) {
                window.removeFirst();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Incident.start("nightly", () -> {
            Batch batch = new Batch();
            for (int number = 0; ; number++) {
                batch.step(number);
            }
        });
        Thread.sleep(2500);
        Incident.readyUntilTheEnd();
    }
}
