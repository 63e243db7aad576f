/*
 * incident: Six callers have their offers scored by an executor of two threads, so most of the tasks wait in its queue.
 * names: slow-task|executor-backlog Score.call
 * jfr: jdk.ThreadPark Offers.best
 */
package requests;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

public final class BackedUpExecutor {
    static final class Score implements Callable<Integer> {
        private final String offer;

        Score(String offer) {
            this.offer = offer;
        }

        @Override
        public Integer call() throws InterruptedException {
            int points = 0;
            for (char letter : offer.toCharArray()) {
                points += letter % 7;
            }
            Thread.sleep(25);
            return points;
        }
    }

    static final class Offers {
        private final ThreadPoolExecutor scoring =
            new ThreadPoolExecutor(2, 2, 0, TimeUnit.MILLISECONDS, new LinkedBlockingQueue<>());

        int best(String customer) throws InterruptedException, ExecutionException {
            List<Score> scores = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                scores.add(new Score(customer + "-offer-" + i));
            }
            int best = 0;
            for (Future<Integer> points : scoring.invokeAll(scores)) {
                best = Math.max(best, points.get());
            }
            return best;
        }
    }

    private static void ask(Offers offers, String customer) {
        try {
            while (offers.best(customer) >= 0) {
                TimeUnit.MILLISECONDS.sleep(10);
            }
        } catch (ExecutionException e) {
            System.err.println(customer + ": " + e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Offers offers = new Offers();
        for (int i = 0; i < 6; i++) {
            String customer = "customer" + i;
            new Thread(() -> ask(offers, customer), "request-" + i).start();
        }
        Thread.sleep(600);
        Incident.ready();
    }
}
