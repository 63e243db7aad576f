/*
 * incident: The indexer waits for a volatile flag of the loader in an empty loop.
 * names: spinning|cpu-hot-line|cpu-hot-method VolatileSpin.awaitLoaded
 * load: cpu
 * jfr: jdk.ExecutionSample VolatileSpin.awaitLoaded
 */
import incidents.Incident;
import java.util.HashMap;
import java.util.Map;

public final class VolatileSpin {
    private volatile boolean loaded;
    private final Map<Integer, String> index = new HashMap<>();

    private void awaitLoaded() {
        while (!loaded) {
            // It does not take long.
        }
        loaded = false;
    }

    private void load() {
        try {
            for (int i = 0; ; i++) {
                Thread.sleep(2500);
                synchronized (index) {
                    index.put(i % 50, "page " + i);
                }
                loaded = true;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void buildIndex() {
        for (int size = 0; size >= 0; ) {
            awaitLoaded();
            synchronized (index) {
                size = index.size();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        VolatileSpin search = new VolatileSpin();
        new Thread(search::load, "loader").start();
        new Thread(search::buildIndex, "indexer").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
