/*
 * incident: A reader waits for mail with the lock of the whole post office held, so nobody can ever bring any.
 * names: lock-contention|lock-chain Mailbox.read
 * jfr: none
 */
package locks;

import incidents.Incident;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

public final class Mailbox {
    private final Deque<String> letters = new ArrayDeque<>();

    synchronized String read() throws InterruptedException {
        while (letters.isEmpty()) {
            wait();
        }
        return letters.removeFirst();
    }

    synchronized void drop(String letter) {
        letters.addLast(letter);
        notifyAll();
    }

    /** All boxes of a street. */
    static final class PostOffice {
        private final Map<String, Mailbox> boxes = new HashMap<>();

        private Mailbox box(String owner) {
            return boxes.computeIfAbsent(owner, name -> new Mailbox());
        }

        synchronized String collect(String owner) throws InterruptedException {
            return box(owner).read();
        }

        synchronized void deliver(String owner, String letter) {
            box(owner).drop(letter);
        }

        synchronized int count() {
            return boxes.size();
        }
    }

    private static void collectAll(PostOffice office, String owner) {
        try {
            while (true) {
                office.collect(owner);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        PostOffice office = new PostOffice();
        office.deliver("holmes", "from Mycroft");
        new Thread(() -> collectAll(office, "holmes"), "holmes").start();
        Thread.sleep(300);
        for (int i = 0; i < 5; i++) {
            String sender = "postman-" + i;
            new Thread(() -> {
                for (int n = 0; ; n++) {
                    office.deliver("watson", sender + " letter " + n);
                    LockSupport.parkNanos(30_000_000);
                }
            }, sender).start();
        }
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(office::count, 200, 500, TimeUnit.MILLISECONDS);
        Thread.sleep(400);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
