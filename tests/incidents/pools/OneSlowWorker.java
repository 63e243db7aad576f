/*
 * incident: All documents are printed by an executor of one thread, which takes 150 ms for each while ten callers wait for theirs.
 * names: slow-task|executor-backlog Printer.print
 * jfr: jdk.ThreadPark Office.document
 */
package pools;

import incidents.Incident;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class OneSlowWorker {
    /** May only be used by one thread. */
    static final class Printer {
        private int pages;

        int print(String text) throws InterruptedException {
            for (int page = 0; page < 3; page++) {
                Thread.sleep(50);
                pages += text.length() > 3 ? 1 : 0;
            }
            return pages;
        }
    }

    static final class Office {
        private final ExecutorService printing = Executors.newSingleThreadExecutor(task -> new Thread(task, "printing"));
        private final Printer printer = new Printer();

        int document(String title) throws ExecutionException, InterruptedException {
            Callable<Integer> job = () -> printer.print(title);
            return printing.submit(job).get();
        }
    }

    private static void write(Office office, String author) {
        try {
            for (int letter = 1; office.document(author + letter) > 0; letter++) {
                Thread.sleep(20);
            }
        } catch (ExecutionException e) {
            System.err.println(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Office office = new Office();
        for (char name = 'a'; name <= 'j'; name++) {
            String author = "author-" + name;
            new Thread(() -> write(office, author), author).start();
        }
        Thread.sleep(500);
        Incident.ready();
    }
}
