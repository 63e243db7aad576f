/*
 * incident: Millions of shipping labels are made by String.format, which reads its format anew for each of them.
 * names: cpu-hot-line|cpu-hot-method|regular-expression|string-copies Label.text
 * load: cpu
 * jfr: jdk.ExecutionSample Label.text
 */
package cpu;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class LabelPrinter {
    private static final class Label {
        private final long parcel;
        private final double weight;
        private final String city;

        Label(long parcel, double weight, String city) {
            this.parcel = parcel;
            this.weight = weight;
            this.city = city;
        }

        String text() {
            return String.format(Locale.ROOT, "%012d | %8.3f kg | %-20s | %04x", parcel, weight, city, parcel & 0xffff);
        }
    }

    private long printed;

    private void print(List<Label> page) {
        for (Label label : page) {
            printed += label.text().length();
        }
    }

    private static List<Label> page(long first) {
        String[] cities = {"Bremen", "Dresden", "Erfurt", "Gera", "Halle"};
        List<Label> page = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            page.add(new Label(first + i, 0.25 * i + 1, cities[i % cities.length]));
        }
        return page;
    }

    public static void main(String[] args) throws Exception {
        LabelPrinter printer = new LabelPrinter();
        Thread worker = new Thread(() -> {
            for (long first = 0; ; first += 24) {
                printer.print(page(first));
            }
        }, "labels");
        worker.setDaemon(true);
        worker.start();
        ExecutorService idle = Executors.newFixedThreadPool(4);
        idle.submit(() -> printer.printed);
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
