/*
 * incident: A home-made profiler stops the JVM 100 times a second to get the stacks of all 300 threads.
 * names: safepoint-frequent|safepoint-long Sampler.sample
 * load: cpu
 * jfr: jdk.ExecuteVMOperation ThreadDump
 */
package safepoints;

import incidents.Incident;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;

public final class ThreadWatch {
    private static final int WORKERS = 300;

    /** Counts what threads do. */
    static final class Sampler implements Runnable {
        private final Map<String, Integer> counts = new TreeMap<>();

        @Override
        public void run() {
            try {
                while (true) {
                    sample();
                    Thread.sleep(10);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void sample() {
            for (StackTraceElement[] stack : Thread.getAllStackTraces().values()) {
                if (stack.length > 0) {
                    counts.merge(stack[0].getMethodName(), 1, Integer::sum);
                }
            }
        }
    }

    private static void await(CountDownLatch latch, int depth) throws InterruptedException {
        if (depth > 0) {
            await(latch, depth - 1);
        } else {
            latch.await();
        }
    }

    private static void work(CountDownLatch stop) {
        try {
            await(stop, 25);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        CountDownLatch stop = new CountDownLatch(1);
        for (int i = 0; i < WORKERS; i++) {
            Thread worker = new Thread(() -> work(stop), "worker-" + i);
            worker.setDaemon(true);
            worker.start();
        }
        Thread sampler = new Thread(new Sampler(), "sampler");
        sampler.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
