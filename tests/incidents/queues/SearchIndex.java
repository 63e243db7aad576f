/*
 * incident: A thread of the program's own puts documents into an index that it copies for each of them: changes come faster than that.
 * names: queue-grows|cpu-hot-line Indexer.add|Index.with|Indexer.changes
 * jfr: none
 */
package queues;

import incidents.Incident;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;

public final class SearchIndex {
    /** Nothing of it changes: a change is another index. */
    static final class Index {
        private final List<String> words;

        Index(List<String> words) {
            this.words = words;
        }

        Index with(String document) {
            List<String> all = new ArrayList<>(words);
            Collections.addAll(all, document.split(" "));
            Collections.sort(all);
            return new Index(all.subList(0, Math.min(all.size(), 400_000)));
        }
    }

    static final class Indexer extends Thread {
        private final LinkedBlockingDeque<String> changes = new LinkedBlockingDeque<>();
        private Index index = new Index(new ArrayList<>());

        Indexer() {
            super("indexer");
            setDaemon(true);
        }

        private void add(String document) {
            index = index.with(document);
        }

        @Override
        public void run() {
            try {
                while (true) {
                    add(changes.takeFirst());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Indexer indexer = new Indexer();
        indexer.start();
        Thread users = new Thread(() -> {
            StringBuilder document = new StringBuilder();
            for (int number = 0; number < 500; number++) {
                document.append("word").append(number * 7919 % 100_003).append(' ');
            }
            try {
                while (true) {
                    for (int i = 0; i < 20; i++) {
                        indexer.changes.addLast(document.toString());
                    }
                    TimeUnit.MILLISECONDS.sleep(100);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "users");
        users.setDaemon(true);
        users.start();
        Thread.sleep(3000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
