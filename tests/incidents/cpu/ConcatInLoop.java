/*
 * incident: The export builds its text by `+=` in a loop over 6000 rows, and copies all of it for each row.
 * names: string-copies|cpu-hot-line ConcatInLoop.render
 * flags: -Xmx256m
 * load: cpu
 * jfr: jdk.ExecutionSample ConcatInLoop.render
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.List;

public final class ConcatInLoop {
    static final class Row {
        private final int id;
        private final String name;

        Row(int id, String name) {
            this.id = id;
            this.name = name;
        }
    }

    private static List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 6000; i++) {
            rows.add(new Row(i, "customer number " + i));
        }
        return rows;
    }

    private static String render(List<Row> rows) {
        String text = "id;name\n";
        for (Row row : rows) {
            text += row.id + ";" + row.name + "\n";
        }
        return text;
    }

    static final class Export extends Thread {
        private volatile int written;

        Export() {
            super("export");
        }

        @Override
        public void run() {
            List<Row> rows = rows();
            while (written >= 0) {
                written = render(rows).length();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        new Export().start();
        Thread.sleep(800);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
