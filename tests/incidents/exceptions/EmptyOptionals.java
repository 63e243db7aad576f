/*
 * incident: A price that is not there is told by Optional.orElseThrow, caught forty frames further out, for each article.
 * names: exceptions|exception-rate PriceLookup.|NoSuchElementException
 * load: cpu
 * jfr: jdk.ExecutionSample PriceLookup
 */
package com.acme.catalogue;

import incidents.Incident;
import java.util.HashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.IntUnaryOperator;

public final class EmptyOptionals {
    static final class PriceLookup {
        private final Map<Integer, Integer> special = new HashMap<>();

        int special(int article) {
            return Optional.ofNullable(special.get(article)).orElseThrow();
        }
    }

    static IntUnaryOperator wrapped(IntUnaryOperator inner, int depth) {
        return depth == 0 ? inner : wrapped(article -> inner.applyAsInt(article), depth - 1);
    }

    public static void main(String[] args) throws Exception {
        PriceLookup lookup = new PriceLookup();
        IntUnaryOperator price = wrapped(lookup::special, 40);
        Incident.start("catalogue", () -> {
            long sum = 0;
            for (int article = 0; sum >= 0; article++) {
                try {
                    sum += price.applyAsInt(article);
                } catch (NoSuchElementException e) {
                    sum += 100;
                }
            }
        });
        Thread.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
