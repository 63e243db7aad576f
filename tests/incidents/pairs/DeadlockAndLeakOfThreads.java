/*
 * incident: Two merges of documents deadlock, and the watcher starts an executor for each file and never shuts it down.
 * names: deadlock Document.merge
 * names: thread-leak Watcher.changed
 * flags: -Xss256k
 * jfr: jdk.ThreadDump Java-level deadlock
 */
package pairs;

import incidents.Incident;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class DeadlockAndLeakOfThreads {
    static final class Document {
        private final StringBuilder text = new StringBuilder();

        void merge(Document other, CountDownLatch open) throws InterruptedException {
            synchronized (text) {
                text.append("begin ");
                open.countDown();
                open.await();
                synchronized (other.text) {
                    text.append(other.text);
                }
            }
        }
    }

    static final class Watcher implements Runnable {
        private int files;

        @Override
        public void run() {
            changed("file-" + files++);
        }

        private void changed(String file) {
            ExecutorService reader = Executors.newFixedThreadPool(1);
            reader.execute(() -> parse(file));
        }

        private static void parse(String file) {
            if (file.isEmpty()) {
                throw new IllegalArgumentException();
            }
        }
    }

    private static Thread merging(String name, Document into, Document from, CountDownLatch open) {
        return new Thread(() -> {
            try {
                into.merge(from, open);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, name);
    }

    public static void main(String[] args) throws Exception {
        Document report = new Document();
        Document appendix = new Document();
        CountDownLatch open = new CountDownLatch(2);
        merging("merge-1", report, appendix, open).start();
        merging("merge-2", appendix, report, open).start();
        ScheduledExecutorService polling = Executors.newScheduledThreadPool(1);
        polling.scheduleAtFixedRate(new Watcher(), 0, 200, TimeUnit.MILLISECONDS);
        Thread.sleep(800);
        Incident.ready();
    }
}
