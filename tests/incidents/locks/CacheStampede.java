/*
 * incident: A price that is missing in a ConcurrentHashMap is computed within the map for 900 ms, and all who need it are blocked on its node.
 * names: lock-contention|lock-chain|lock-queue PriceCache.|CatalogueView.
 * jfr: jdk.JavaMonitorEnter ConcurrentHashMap
 */
package io.lantern.cache;

import incidents.Incident;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

public final class CacheStampede {
    static final class PriceCache<K, V> {
        private final ConcurrentHashMap<K, V> entries = new ConcurrentHashMap<>();
        private final Function<K, V> loader;

        PriceCache(Function<K, V> loader) {
            this.loader = loader;
        }

        V get(K key) {
            return entries.computeIfAbsent(key, loader);
        }

        void expire() {
            entries.clear();
        }
    }

    static final class CatalogueView {
        private final PriceCache<String, Long> prices = new PriceCache<>(CatalogueView::load);
        private final AtomicLong shown = new AtomicLong();

        private static Long load(String article) {
            Incident.sleep(900);
            return (long) article.hashCode();
        }

        void show(String article) {
            shown.addAndGet(prices.get(article));
            Incident.sleep(3);
        }
    }

    public static void main(String[] args) throws Exception {
        CatalogueView view = new CatalogueView();
        for (int i = 0; i < 8; i++) {
            Incident.start("render-" + i, () -> {
                while (true) {
                    view.show("best-seller");
                }
            });
        }
        Incident.start("expiry", () -> {
            while (true) {
                Incident.sleep(1000);
                view.prices.expire();
            }
        });
        Thread.sleep(500);
        Incident.readyUntilTheEnd();
    }
}
