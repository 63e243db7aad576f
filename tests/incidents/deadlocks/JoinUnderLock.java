/*
 * incident: Who stops the importer holds its lock and waits for its thread to end, which wants that lock to say that it has ended.
 * names: deadlock JoinUnderLock.stop
 * jfr: none
 */
package deadlocks;

import incidents.Incident;

public final class JoinUnderLock {
    private volatile boolean stops;
    private int imported;

    private void run() {
        while (!stops) {
            add();
        }
        ended();
    }

    private void add() {
        imported++;
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            stops = true;
        }
    }

    private synchronized void ended() {
        imported = 0;
    }

    private synchronized void stop(Thread importer) throws InterruptedException {
        stops = true;
        importer.join();
    }

    public static void main(String[] args) throws Exception {
        JoinUnderLock job = new JoinUnderLock();
        Thread importer = new Thread(job::run, "importer");
        importer.start();
        Thread.sleep(100);
        Incident.ready();
        job.stop(importer);
    }
}
