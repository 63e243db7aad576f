/*
 * incident: Keys of a cache are made by String.format with a locale, for each of the readings that come in.
 * names: cpu-hot-line|cpu-hot-method KeyMaker.key
 * load: cpu
 * jfr: jdk.ExecutionSample KeyMaker
 */
package com.metering.ingest;

import incidents.Incident;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

public final class FormatKeys {
    static final class KeyMaker {
        String key(String meter, int year, int month, double value) {
            return String.format(Locale.ROOT, "%-12s|%04d-%02d|%.3f", meter, year, month, value);
        }
    }

    static final class Ingest {
        private final KeyMaker keys = new KeyMaker();
        private final Map<String, Integer> seen = new HashMap<>();

        void read(int number) {
            String key = keys.key("meter-" + number % 50, 2020 + number % 4, 1 + number % 12, number % 10 / 8.0);
            seen.merge(key, 1, Integer::sum);
        }
    }

    public static void main(String[] args) throws Exception {
        Incident.start("ingest", () -> {
            Ingest ingest = new Ingest();
            for (int number = 0; ; number++) {
                ingest.read(number & 0xffff);
            }
        });
        Thread.sleep(2000);
        Incident.readyUntilTheEnd();
    }
}
