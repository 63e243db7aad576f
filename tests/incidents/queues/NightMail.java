/*
 * incident: Everything stands in one class with static fields: letters come faster than the one thread sends them that takes them out of a static queue.
 * names: queue-grows NightMail.send|NightMail.deliver
 * jfr: none
 */
package queues;

import incidents.Incident;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

public final class NightMail {
    private static final BlockingQueue<String> OUTBOX = new LinkedBlockingQueue<>();

    private static void send(String letter) throws InterruptedException {
        Thread.sleep(40 + letter.length() % 2);
    }

    private static void deliver() {
        try {
            while (true) {
                send(OUTBOX.take());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void write() {
        try {
            for (long letter = 0; ; letter++) {
                OUTBOX.put("letter " + letter);
                Thread.sleep(10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(NightMail::deliver, "mail-out").start();
        new Thread(NightMail::write, "newsletter").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
