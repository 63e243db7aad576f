/*
 * incident: The thread that should complete the quotes has died of an exception, so every request waits for ever.
 * names: starved-pool NeverCompleted$Quotes.quote
 * jfr: jdk.ThreadPark NeverCompleted
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.BlockingQueue;

public final class NeverCompleted {
    private static volatile long quoted;

    static final class Quotes {
        private final BlockingQueue<CompletableFuture<Long>> asked = new LinkedBlockingQueue<>();

        void answer() {
            try {
                for (long i = 0; ; i++) {
                    CompletableFuture<Long> quote = asked.take();
                    List<Long> rates = new ArrayList<>();
                    quote.complete(rates.get((int) i));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        long quote() {
            CompletableFuture<Long> quote = new CompletableFuture<>();
            asked.add(quote);
            return quote.join();
        }
    }

    public static void main(String[] args) throws Exception {
        Quotes quotes = new Quotes();
        Thread answers = new Thread(quotes::answer, "answers");
        answers.setUncaughtExceptionHandler((thread, failure) -> {});
        answers.start();
        ExecutorService web = Executors.newFixedThreadPool(8);
        for (int i = 0; i < 40; i++) {
            web.execute(() -> quoted += quotes.quote());
        }
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
