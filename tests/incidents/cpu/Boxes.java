/*
 * incident: A histogram of a million readings is kept as a map of boxed numbers, and boxed anew for each reading.
 * names: cpu-hot-line|cpu-hot-method|allocation-rate Histogram.
 * load: cpu
 * jfr: jdk.ExecutionSample Histogram
 */
package lab.signal;

import incidents.Incident;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

public final class Boxes {
    static final class Histogram {
        Map<Long, Long> of(int from) {
            return Stream.iterate((long) from, n -> n + 1)
                .limit(200_000)
                .map(n -> n * 2_654_435_761L % 5003)
                .collect(Collectors.groupingBy(n -> n, TreeMap::new, Collectors.summingLong(n -> 1L)));
        }
    }

    public static void main(String[] args) throws Exception {
        Incident.start("sampler", () -> {
            Histogram histogram = new Histogram();
            for (int from = 0; ; from++) {
                if (histogram.of(from).isEmpty()) {
                    return;
                }
            }
        });
        Thread.sleep(2000);
        Incident.readyUntilTheEnd();
    }
}
