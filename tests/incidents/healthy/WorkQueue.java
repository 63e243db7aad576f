/*
 * healthy: Four consumers wait at a bounded queue for work that comes fifty times a second and is done at once.
 */
package healthy;

import incidents.Incident;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.LongAdder;

public final class WorkQueue {
    private final BlockingQueue<int[]> queue = new ArrayBlockingQueue<>(100);
    private final LongAdder sum = new LongAdder();

    private void consume() {
        try {
            while (true) {
                handle(queue.take());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void handle(int[] numbers) {
        for (int number : numbers) {
            sum.add(number);
        }
    }

    private void produce() {
        try {
            for (int i = 0; ; i++) {
                queue.put(new int[] {i, i + 1, i + 2});
                Thread.sleep(20);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        WorkQueue work = new WorkQueue();
        for (int i = 0; i < 4; i++) {
            new Thread(work::consume, "consumer-" + i).start();
        }
        new Thread(work::produce, "producer").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
