/*
 * incident: Stages of CompletableFutures join further stages of the same small executor, until all of its threads join.
 * names: starved-pool Enrichment.profile
 * jfr: none
 */
package pools;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

public final class Enrichment {
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final ExecutorService stages = Executors.newFixedThreadPool(3, task -> {
        Thread thread = new Thread(task, "stage-" + NUMBER.incrementAndGet());
        thread.setDaemon(true);
        return thread;
    });

    CompletableFuture<String> enrich(int customer) {
        return CompletableFuture.supplyAsync(() -> profile(customer), stages);
    }

    private String profile(int customer) {
        CompletableFuture<String> name = CompletableFuture.supplyAsync(() -> lookUp("name", customer), stages);
        CompletableFuture<String> orders = CompletableFuture.supplyAsync(() -> lookUp("orders", customer), stages);
        return name.thenCombine(orders, (a, b) -> a + "/" + b).join();
    }

    private static String lookUp(String what, int customer) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        return what + customer;
    }

    public static void main(String[] args) throws Exception {
        Enrichment enrichment = new Enrichment();
        List<CompletableFuture<String>> profiles = new ArrayList<>();
        for (int customer = 1; customer <= 12; customer++) {
            profiles.add(enrichment.enrich(customer));
        }
        Thread poller = new Thread(() -> {
            while (true) {
                profiles.removeIf(CompletableFuture::isDone);
                LockSupport.parkNanos(200_000_000);
            }
        }, "poller");
        poller.setDaemon(true);
        poller.start();
        Executors.newCachedThreadPool().submit(() -> "idle");
        Thread.sleep(400);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
