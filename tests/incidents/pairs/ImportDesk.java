/*
 * incident: A file import throws an exception for each row that is known already, and uploads wait for room in the queue of a slow virus scanner.
 * names: exceptions DuplicateRow
 * names: full-queue ImportDesk.enqueue
 * load: cpu
 * jfr: jdk.ExecutionSample ImportDesk.insert
 */
package pairs;

import incidents.Incident;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

public final class ImportDesk {
    static final class DuplicateRow extends Exception {
        private static final long serialVersionUID = 1L;

        DuplicateRow(String key) {
            super("row " + key + " is there already");
        }
    }

    private final Set<String> known = new HashSet<>();
    private final BlockingQueue<byte[]> uploads = new ArrayBlockingQueue<>(3);
    private long duplicates;

    private void insert(String key) throws DuplicateRow {
        if (!known.add(key)) {
            throw new DuplicateRow(key);
        }
    }

    private void importFile(int rows) {
        for (int i = 0; i < rows; i++) {
            try {
                insert("row-" + i % 1000);
            } catch (DuplicateRow e) {
                duplicates += e.getMessage().length();
            }
        }
    }

    private void enqueue(byte[] upload) throws InterruptedException {
        uploads.put(upload);
    }

    private void upload(int user) {
        try {
            for (int i = 0; ; i++) {
                enqueue(new byte[512 + user + i % 7]);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void scan() {
        try {
            while (true) {
                byte[] upload = uploads.take();
                Thread.sleep(250 + upload.length % 3);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        ImportDesk desk = new ImportDesk();
        new Thread(desk::scan, "virus-scanner").start();
        for (int i = 0; i < 6; i++) {
            int user = i;
            new Thread(() -> desk.upload(user), "upload-" + i).start();
        }
        Thread imports = new Thread(() -> {
            while (desk.duplicates >= 0) {
                desk.importFile(100_000);
            }
        }, "file-import");
        imports.setDaemon(true);
        imports.start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
