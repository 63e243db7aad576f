/*
 * incident: A page joins the futures of its parts within the executor that has to compute these parts, and all its threads do so.
 * names: starved-pool PageService.render
 * jfr: none
 */
package pools;

import incidents.Incident;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

public final class JoinInCommonPool {
    static final class PageService {
        private final Executor executor;

        PageService(Executor executor) {
            this.executor = executor;
        }

        CompletableFuture<String> page(String user) {
            return CompletableFuture.supplyAsync(() -> render(user), executor);
        }

        private String render(String user) {
            CompletableFuture<String> news = part("news", user);
            CompletableFuture<String> weather = part("weather", user);
            return news.join() + weather.join();
        }

        private CompletableFuture<String> part(String name, String user) {
            return CompletableFuture.supplyAsync(() -> "<" + name + ">", executor).thenApply(text -> text + user);
        }
    }

    private static List<CompletableFuture<String>> visit(PageService service, int visitors) {
        return Stream.iterate(1, number -> number + 1).limit(visitors)
            .map(number -> service.page("visitor " + number))
            .collect(Collectors.toList());
    }

    public static void main(String[] args) throws Exception {
        PageService service = new PageService(Executors.newFixedThreadPool(6));
        ScheduledExecutorService monitor = Executors.newScheduledThreadPool(1);
        List<CompletableFuture<String>> pages = visit(service, 20);
        monitor.scheduleAtFixedRate(
            () -> pages.stream().filter(CompletableFuture::isDone).count(), 0, 250, TimeUnit.MILLISECONDS);
        Thread.sleep(400);
        Incident.ready();
        CompletableFuture.allOf(pages.toArray(new CompletableFuture<?>[0])).join();
    }
}
