/*
 * incident: The key of the stock map has a constant hash code, so all 4000 articles share one bucket.
 * names: hash-collisions|cpu-hot-line|cpu-hot-method HashCollisions
 * load: cpu
 * jfr: jdk.ExecutionSample HashCollisions
 */
import incidents.Incident;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

public final class HashCollisions {
    static final class ArticleKey {
        private final int shop;
        private final int number;

        ArticleKey(int shop, int number) {
            this.shop = shop;
            this.number = number;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof ArticleKey && ((ArticleKey) other).number == number && ((ArticleKey) other).shop == shop;
        }

        @Override
        public int hashCode() {
            return 31;
        }
    }

    private final Map<ArticleKey, Integer> stock = new HashMap<>();
    private long sold;

    private void fill() {
        for (int i = 0; i < 4000; i++) {
            stock.put(new ArticleKey(i % 7, i), 100);
        }
    }

    private void sell(int number) {
        Integer left = stock.get(new ArticleKey(number % 7, number));
        if (left != null) {
            sold += left > 0 ? 1 : 0;
        }
    }

    private void run() {
        while (sold >= 0) {
            sell(ThreadLocalRandom.current().nextInt(4000));
        }
    }

    public static void main(String[] args) throws Exception {
        HashCollisions shop = new HashCollisions();
        shop.fill();
        new Thread(shop::run, "till").start();
        Thread clock = new Thread(HashCollisions::tick, "clock");
        clock.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }

    private static void tick() {
        try {
            while (true) {
                Thread.sleep(1000);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
