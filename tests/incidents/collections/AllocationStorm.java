/*
 * incident: Each record is split into strings and boxed numbers, which makes garbage of a gigabyte a second.
 * names: allocation-rate AllocationStorm
 * load: cpu
 * jfr: jdk.ObjectAllocationSample AllocationStorm
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class AllocationStorm {
    private final Map<String, Long> totals = new HashMap<>();

    private static List<Long> numbers(String[] fields) {
        List<Long> numbers = new ArrayList<>();
        for (int i = 1; i < fields.length; i++) {
            numbers.add(Long.parseLong(fields[i]) + 1000);
        }
        return numbers;
    }

    private void record(String line) {
        String[] fields = line.split(",");
        for (Long number : numbers(fields)) {
            totals.merge(fields[0], number, Long::sum);
        }
    }

    private void aggregate() {
        String[] lines = {"vienna,1,22,333,4444,55555", "graz,9,88,777,6666,55555", "linz,5,10,20,40,80"};
        for (int i = 0; !totals.containsKey("end"); i++) {
            record(lines[i % lines.length]);
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 2; i++) {
            new Thread(new AllocationStorm()::aggregate, "aggregate-" + i).start();
        }
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
