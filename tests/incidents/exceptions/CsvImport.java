/*
 * incident: The import finds out whether a cell is a number by parsing it and catching the NumberFormatException.
 * names: exceptions CsvImport.isNumeric
 * load: cpu
 * jfr: jdk.ExecutionSample CsvImport.isNumeric
 */
package exceptions;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

public final class CsvImport {
    private long numbers;
    private long texts;

    static boolean isNumeric(String cell) {
        try {
            Double.parseDouble(cell);
            return true;
        } catch (NumberFormatException e) {
            return false;
        }
    }

    private void importRow(String row) {
        int begin = 0;
        for (int end = row.indexOf(';'); end >= 0; end = row.indexOf(';', begin)) {
            classify(row.substring(begin, end));
            begin = end + 1;
        }
        classify(row.substring(begin));
    }

    private void classify(String cell) {
        if (isNumeric(cell)) {
            numbers++;
        } else {
            texts++;
        }
    }

    private static List<String> rows(int count) {
        Random random = new Random(7);
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add("order-" + i + ";" + random.nextInt(1000) + ";open;n/a;express;" + random.nextDouble() + ";EUR");
        }
        return rows;
    }

    public static void main(String[] args) throws Exception {
        List<String> rows = rows(2000);
        CsvImport csv = new CsvImport();
        Thread worker = new Thread(() -> {
            while (true) {
                rows.forEach(csv::importRow);
            }
        }, "csv-import");
        worker.setDaemon(true);
        worker.start();
        Thread.sleep(1500);
        Incident.ready();
        while (true) {
            Thread.sleep(5000);
            if (csv.numbers + csv.texts < 0) {
                System.err.println("overflow");
            }
        }
    }
}
