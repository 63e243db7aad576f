/*
 * incident: A thread written by hand sends letters from a queue without a bound, 60 ms for each, while forty come in a second.
 * names: queue-grows Postman.deliver|Letterbox
 * jfr: none
 */
package queues;

import incidents.Incident;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

public final class Letterbox {
    static final class Postman implements Runnable {
        private final BlockingQueue<String> letters;
        private long delivered;

        Postman(BlockingQueue<String> letters) {
            this.letters = letters;
        }

        private void deliver(String letter) throws InterruptedException {
            TimeUnit.MILLISECONDS.sleep(60);
            delivered += letter.length();
        }

        @Override
        public void run() {
            try {
                while (true) {
                    deliver(letters.take());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void write(BlockingQueue<String> letters) {
        try {
            for (int number = 0; true; number++) {
                letters.add("Dear customer " + number);
                TimeUnit.MILLISECONDS.sleep(25);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        BlockingQueue<String> letters = new LinkedBlockingQueue<>();
        new Thread(new Postman(letters), "postman").start();
        Thread writer = new Thread(() -> write(letters), "writer");
        writer.setDaemon(true);
        writer.start();
        Thread.sleep(2000);
        Incident.ready();
        Incident.untilStdinEnds();
        System.exit(0);
    }
}
