/*
 * incident: Each customer is matched with all contracts by a stream within a stream, in lambdas alone.
 * names: cpu-hot-line|cpu-hot-method|list-search Matching
 * load: cpu
 * jfr: jdk.ExecutionSample Matching
 */
package org.insure.batch;

import incidents.Incident;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public final class NestedStreams {
    static final class Matching {
        private final List<String> customers = names("customer-");
        private final List<String> contracts = names("customer-");

        private static List<String> names(String prefix) {
            return IntStream.range(0, 1500).mapToObj(i -> prefix + i * 31).collect(Collectors.toList());
        }

        long matched() {
            ToLongFunction<String> hits = customer -> contracts.stream()
                .filter(contract -> contract.substring(3).equalsIgnoreCase(customer.substring(3)))
                .count();
            return customers.stream().mapToLong(hits).sum();
        }
    }

    public static void main(String[] args) throws Exception {
        Matching matching = new Matching();
        Incident.start("nightly", () -> {
            long sum = 0;
            while (sum >= 0) {
                sum += matching.matched();
            }
        });
        Thread.sleep(2000);
        Incident.readyUntilTheEnd();
    }
}
