/*
 * incident: Answers of three megabytes are built in a StringBuilder that doubles, in a heap of G1 with small regions.
 * names: humongous Json.|Report.
 * flags: -Xmx256m -XX:+UseG1GC
 * load: cpu
 * jfr: jdk.ObjectAllocationSample Json.field
 */
package com.acme.export;

import incidents.Incident;

public final class BigAnswers {
    static final class Json {
        private final StringBuilder text = new StringBuilder();

        Json field(String name, int value) {
            text.append('"').append(name).append("\":").append(value).append(',');
            return this;
        }

        int length() {
            return text.length();
        }
    }

    static final class Report {
        int answer(int rows) {
            Json json = new Json();
            for (int row = 0; row < rows; row++) {
                json.field("amount_of_the_position", row);
            }
            return json.length();
        }
    }

    public static void main(String[] args) throws Exception {
        Incident.start("api", () -> {
            Report report = new Report();
            while (report.answer(90_000) > 0) {
                Incident.sleep(20);
            }
        });
        Thread.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
