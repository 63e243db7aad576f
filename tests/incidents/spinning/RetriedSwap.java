/*
 * incident: Six threads replace an immutable basket by compareAndSet, each with a new copy of it, and mostly in vain.
 * names: spinning|cpu-hot-line|cpu-hot-method|allocation-rate Basket.
 * load: cpu
 * jfr: jdk.ExecutionSample Basket
 */
package com.acme.basket;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

public final class RetriedSwap {
    static final class Basket {
        private final AtomicReference<List<Integer>> lines = new AtomicReference<>(new ArrayList<>());

        void add(int article) {
            lines.updateAndGet(before -> {
                List<Integer> after = new ArrayList<>(before.size() > 2000 ? List.of() : before);
                after.add(article);
                return after;
            });
        }
    }

    public static void main(String[] args) throws Exception {
        Basket basket = new Basket();
        for (int i = 0; i < 2; i++) {
            Incident.start("cart-" + i, () -> {
                for (int article = 0; ; article++) {
                    basket.add(article);
                }
            });
        }
        Thread.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
