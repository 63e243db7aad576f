/*
 * incident: Modules that start in a pool of two wait on a latch for modules that are still queued in that pool.
 * names: starved-pool Module.awaitNeeded
 * jfr: none
 */
package pools;

import incidents.Incident;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class Bootstrap {
    static final class Module {
        private final String name;
        private final List<Module> needed;
        private final CountDownLatch started = new CountDownLatch(1);

        Module(String name, Module... needed) {
            this.name = name;
            this.needed = List.of(needed);
        }

        private void awaitNeeded() throws InterruptedException {
            for (Module module : needed) {
                module.started.await();
            }
        }

        void start() throws InterruptedException {
            awaitNeeded();
            Thread.sleep(10 + name.length());
            started.countDown();
        }
    }

    private final ExecutorService starters;

    Bootstrap(int threads) {
        starters = Executors.newFixedThreadPool(threads);
    }

    void startModule(Module module) {
        starters.execute(() -> {
            try {
                module.start();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private static boolean isUp(List<Module> modules) {
        return modules.stream().allMatch(module -> module.started.getCount() == 0);
    }

    public static void main(String[] args) throws Exception {
        Module config = new Module("config");
        Module database = new Module("database", config);
        Module cache = new Module("cache", config, database);
        Module web = new Module("web", cache);
        List<Module> modules = List.of(web, cache, database, config);
        Bootstrap bootstrap = new Bootstrap(2);
        modules.forEach(bootstrap::startModule);
        ScheduledExecutorService health = Executors.newScheduledThreadPool(2);
        health.scheduleAtFixedRate(() -> isUp(modules), 100, 250, TimeUnit.MILLISECONDS);
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
