/*
 * incident: A guard that is asked before each batch thinks that memory is short, and calls the collector through Runtime.
 * names: gc-explicit MemoryGuard.ensureFree
 * jfr: jdk.GarbageCollection System.gc()
 */
package collections;

import incidents.Incident;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** From a library for little machines. */
public final class MemoryGuard {
    private final double wanted;

    MemoryGuard(double wanted) {
        this.wanted = wanted;
    }

    void ensureFree() {
        Runtime runtime = Runtime.getRuntime();
        double free = (double) runtime.freeMemory() / runtime.totalMemory();
        if (free < wanted) {
            runtime.gc();
        }
    }

    /** Takes records in batches. */
    static final class Loader {
        private final MemoryGuard guard = new MemoryGuard(0.995);
        private final Map<Integer, String> latest = new HashMap<>();

        private void loadBatch(int number) {
            guard.ensureFree();
            for (int i = 0; i < 500; i++) {
                latest.put(i, "record " + number + "/" + i);
            }
        }

        void run() {
            try {
                for (int number = 0; ; number++) {
                    loadBatch(number);
                    Thread.sleep(150);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        List<byte[]> index = new ArrayList<>();
        for (int i = 0; i < 40_000; i++) {
            index.add(new byte[600]);
        }
        new Thread(new Loader()::run, "loader").start();
        Executors.newScheduledThreadPool(2).scheduleAtFixedRate(index::hashCode, 5, 5, TimeUnit.SECONDS);
        Thread.sleep(800);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
