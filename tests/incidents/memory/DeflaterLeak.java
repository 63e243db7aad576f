/*
 * incident: Each document makes a Deflater and keeps it without ending it, a quarter of a megabyte of native memory each.
 * names: memory-growth DeflaterLeak
 * flags: -Xmx64m
 * jfr: none
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.zip.Deflater;

public final class DeflaterLeak {
    static final class Document {
        private final Deflater deflater;
        private int compressed;

        Document(int level) {
            deflater = new Deflater(level);
        }

        void compress(byte[] text) {
            byte[] buffer = new byte[4096];
            deflater.setInput(text);
            deflater.finish();
            while (!deflater.finished()) {
                compressed += deflater.deflate(buffer);
            }
        }
    }

    private final List<Document> archive = new ArrayList<>();

    private static byte[] text(int number) {
        byte[] text = new byte[100_000];
        for (int i = 0; i < text.length; i++) {
            text[i] = (byte) ('a' + (i * number >>> 7) % 26);
        }
        return text;
    }

    private void store() {
        Document document = new Document(Deflater.BEST_SPEED);
        document.compress(text(archive.size()));
        archive.add(document);
    }

    public static void main(String[] args) throws Exception {
        DeflaterLeak store = new DeflaterLeak();
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        timer.scheduleAtFixedRate(store::store, 0, 100, TimeUnit.MILLISECONDS);
        Thread.sleep(600);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
