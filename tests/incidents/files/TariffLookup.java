/*
 * incident: Each lookup opens the tariff's file and never closes it, so descriptors are used up.
 * names: open-descriptors tariffs
 * jfr: none
 */
package files;

import incidents.Incident;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

public final class TariffLookup {
    private static final int ROW = 8;
    private static final int ROWS = 512;

    private final Path file;
    /** Whoever was answered keeps what it was answered from. */
    private final List<RandomAccessFile> answered = new ArrayList<>();

    private TariffLookup(Path file) {
        this.file = file;
    }

    private int priceOf(int zone) throws IOException {
        RandomAccessFile tariffs = new RandomAccessFile(file.toFile(), "r");
        answered.add(tariffs);
        tariffs.seek((long) zone * ROW);
        return tariffs.readInt();
    }

    public static void main(String[] args) throws Exception {
        Path file = Incident.temporaryFile("tariffs", ".bin");
        Files.write(file, new byte[ROW * ROWS]);
        TariffLookup lookup = new TariffLookup(file);
        Incident.ready();
        long total = 0;
        for (int i = 0; ; i++) {
            total += lookup.priceOf(i % ROWS);
            Thread.sleep(20);
        }
    }
}
