/*
 * incident: Each report waits in the only pool for its chapters, which are queued behind the reports in that same pool.
 * names: starved-pool ReportBuilder.build
 * jfr: none
 */
package pools;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class ReportBuilder {
    private final ExecutorService pool = Executors.newFixedThreadPool(4);

    Future<String> order(String customer) {
        return pool.submit(() -> build(customer));
    }

    private String build(String customer) throws ExecutionException, InterruptedException {
        List<Future<String>> chapters = new ArrayList<>();
        for (String chapter : List.of("summary", "orders", "returns")) {
            chapters.add(pool.submit(chapter(customer, chapter)));
        }
        StringBuilder report = new StringBuilder();
        for (Future<String> chapter : chapters) {
            report.append(chapter.get()).append('\n');
        }
        return report.toString();
    }

    private static Callable<String> chapter(String customer, String chapter) {
        return () -> {
            Thread.sleep(30);
            return chapter + " of " + customer;
        };
    }

    public static void main(String[] args) throws Exception {
        ReportBuilder builder = new ReportBuilder();
        List<Future<String>> ordered = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            ordered.add(builder.order("customer " + i));
        }
        ScheduledExecutorService housekeeping = Executors.newScheduledThreadPool(2);
        housekeeping.scheduleWithFixedDelay(() -> ordered.removeIf(Future::isDone), 100, 500, TimeUnit.MILLISECONDS);
        ExecutorService mail = Executors.newFixedThreadPool(3);
        for (int i = 0; i < 3; i++) {
            mail.submit(System::nanoTime);
        }
        Thread.sleep(300);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
