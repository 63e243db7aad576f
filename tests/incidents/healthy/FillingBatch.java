/*
 * healthy: A batch reads its 150 MB of rows into a heap of 512 MB, and then goes on to work on them.
 * flags: -Xmx512m
 * load: cpu
 */
package com.acme.load;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;

public final class FillingBatch {
    static final class Row {
        final int number;
        final byte[] cells = new byte[1000];

        Row(int number) {
            this.number = number;
            cells[number % 1000] = 1;
        }
    }

    private final List<Row> rows = new ArrayList<>();
    private long sum;

    void load() {
        for (int i = 0; i < 150_000; i++) {
            rows.add(new Row(i));
            if (i % 500 == 0) {
                Incident.sleep(25);
            }
        }
    }

    void work() {
        while (sum >= 0) {
            for (Row row : rows) {
                sum += row.cells[row.number % 997];
            }
            Incident.sleep(300);
        }
    }

    public static void main(String[] args) throws Exception {
        FillingBatch batch = new FillingBatch();
        Incident.start("batch", () -> {
            batch.load();
            batch.work();
        });
        Thread.sleep(500);
        Incident.readyUntilTheEnd();
    }
}
