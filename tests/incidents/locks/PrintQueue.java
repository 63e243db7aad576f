/*
 * incident: A full buffer's notify woke another printer instead of a writer, and now both sides wait for ever for a signal.
 * names: lost-notify PrintQueue.put
 * jfr: none
 */
package locks;

import incidents.Incident;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A buffer with room for one document; `notify` where `notifyAll` was needed. */
public final class PrintQueue {
    private String document;
    private int printed;

    synchronized void put(String next) throws InterruptedException {
        while (document != null) {
            wait();
        }
        document = next;
        notify();
    }

    synchronized String take() throws InterruptedException {
        while (document == null) {
            wait();
        }
        String taken = document;
        document = null;
        printed++;
        notify();
        return taken;
    }

    synchronized int printed() {
        return printed;
    }

    private void print(String printer) {
        try {
            while (true) {
                spool(printer, take());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static int spool(String printer, String page) {
        return (printer + page).hashCode();
    }

    private void write(String author) {
        try {
            for (int page = 0; ; page++) {
                put(author + ", page " + page);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isStuck() throws InterruptedException {
        int before = printed();
        Thread.sleep(1000);
        return printed() == before;
    }

    public static void main(String[] args) throws Exception {
        PrintQueue queue = new PrintQueue();
        for (int i = 0; i < 6; i++) {
            String name = String.valueOf((char) ('a' + i));
            new Thread(() -> queue.print("printer-" + name), "printer-" + name).start();
            new Thread(() -> queue.write("author-" + name), "author-" + name).start();
        }
        Executors.newScheduledThreadPool(2).scheduleAtFixedRate(System::nanoTime, 1, 1, TimeUnit.SECONDS);
        while (!queue.isStuck()) {
            Thread.yield();
        }
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
