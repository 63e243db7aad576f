/*
 * incident: Pickers are blocked on a monitor whose holder waits for a label printer's process, and goods are booked on a thread of its own each.
 * names: lock-contention|lock-chain|slow-process LabelDesk.print
 * names: thread-churn Warehouse.receive
 * jfr: jdk.JavaMonitorEnter LabelDesk.print
 */
package pairs;

import incidents.Incident;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class Warehouse {
    /** One printer for all. */
    static final class LabelDesk {
        private int printed;

        synchronized void print(String text) throws IOException, InterruptedException {
            Process driver = Incident.adopt(new ProcessBuilder("sleep", text.isEmpty() ? "0" : "0.7").start());
            if (driver.waitFor() == 0) {
                printed++;
            }
        }
    }

    private final Map<String, Integer> stock = new ConcurrentHashMap<>();

    private void receive(String article) {
        Thread booking = new Thread(() -> stock.merge(article, 1, Integer::sum), "booking-" + article);
        booking.start();
    }

    private void receiveAll() {
        for (int i = 0; i < 4; i++) {
            receive("article-" + i);
        }
    }

    private static void pick(LabelDesk desk, String picker) {
        try {
            for (int i = 0; ; i++) {
                desk.print(picker + i);
            }
        } catch (IOException e) {
            System.err.println(picker + ": " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Warehouse warehouse = new Warehouse();
        LabelDesk desk = new LabelDesk();
        ExecutorService pickers = Executors.newFixedThreadPool(5);
        for (int i = 0; i < 5; i++) {
            String picker = "picker-" + i;
            pickers.execute(() -> pick(desk, picker));
        }
        ScheduledExecutorService gate = Executors.newScheduledThreadPool(1);
        gate.scheduleAtFixedRate(warehouse::receiveAll, 0, 50, TimeUnit.MILLISECONDS);
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
