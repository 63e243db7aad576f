/*
 * incident: Workers of a home-made pool die of an exception one by one; of eight one is left, and the queue grows.
 * names: queue-grows|queue-backlog|executor-backlog|exception-rate|full-queue *
 * jfr: none
 */
package pools;

import incidents.Incident;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

public final class DeadWorkers {
    private final BlockingQueue<String> letters = new LinkedBlockingQueue<>();
    private long sorted;

    private void sort() {
        try {
            while (true) {
                String letter = letters.take();
                if (letter.length() < 4 && !Thread.currentThread().getName().endsWith("-0")) {
                    throw new IllegalArgumentException(letter);
                }
                Thread.sleep(20);
                sorted += letter.length();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        DeadWorkers post = new DeadWorkers();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> { });
        for (int i = 0; i < 8; i++) {
            Incident.start("sorter-" + i, post::sort);
        }
        Incident.start("collector", () -> {
            for (int i = 0; true; i++) {
                post.letters.add("letter " + i);
                if (i % 100 == 50) {
                    post.letters.add("?");
                }
                Incident.sleep(4);
            }
        });
        Thread.sleep(6000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
