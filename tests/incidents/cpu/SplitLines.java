/*
 * incident: Each line of a price list is checked by String.matches with a pattern that backtracks over the whole line.
 * names: regular-expression|cpu-hot-line PriceList.
 * load: cpu
 * jfr: jdk.ExecutionSample PriceList
 */
package eu.grainmarket.feed;

import incidents.Incident;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public final class SplitLines {
    static final class PriceList {
        private final List<String> lines = IntStream.range(0, 400)
            .mapToObj(i -> "wheat;" + i + ";EUR;" + i * 7 % 100 + ";rotterdam;spot;a;b;c;d;e;f;g")
            .collect(Collectors.toList());

        long valid() {
            return lines.stream().filter(PriceList::isValid).count();
        }

        private static boolean isValid(String line) {
            return line.matches(".*;.*;.*;.*;.*;.*USD.*");
        }
    }

    public static void main(String[] args) throws Exception {
        PriceList list = new PriceList();
        Incident.start("feed", () -> {
            long valid = 0;
            while (valid >= 0) {
                valid += list.valid();
            }
        });
        Thread.sleep(2000);
        Incident.readyUntilTheEnd();
    }
}
