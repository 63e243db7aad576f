/*
 * healthy: A batch wakes every two seconds, handles a few rows and sleeps again; a second one waits for the evening.
 */
import incidents.Incident;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

public final class SleepingBatch {
    private final List<String> outbox = new ArrayList<>();

    private static List<Integer> dueRows(int round) {
        List<Integer> rows = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            rows.add(round * 25 + i);
        }
        return rows;
    }

    private void handle(int row) {
        outbox.add("row " + row);
    }

    private void batch() {
        try {
            for (int round = 0; ; round++) {
                dueRows(round).forEach(this::handle);
                outbox.clear();
                Thread.sleep(2000);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void evening() {
        try {
            Thread.sleep(Duration.ofHours(9).toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new SleepingBatch()::batch, "batch").start();
        new Thread(SleepingBatch::evening, "evening").start();
        Thread.sleep(300);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
