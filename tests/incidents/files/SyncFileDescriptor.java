/*
 * incident: The counters of visits are saved with FileDescriptor.sync after each change, by three threads.
 * names: slow-disk CounterFile.save
 * disk: slow
 * jfr: none
 */
package files;

import incidents.Incident;
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Timer;
import java.util.TimerTask;

public final class SyncFileDescriptor {
    static final class CounterFile {
        private final Path file;
        private final long[] visits = new long[64];

        CounterFile(Path file) {
            this.file = file;
        }

        void visited(int page) throws IOException {
            visits[page % visits.length]++;
            save();
        }

        private void save() throws IOException {
            try (FileOutputStream out = new FileOutputStream(file.toFile())) {
                DataOutputStream data = new DataOutputStream(new BufferedOutputStream(out));
                for (long count : visits) {
                    data.writeLong(count);
                }
                data.flush();
                out.getFD().sync();
            }
        }
    }

    private static void browse(CounterFile counters) {
        try {
            for (int page = 1; ; page += 7) {
                counters.visited(page & 0xffff);
                Thread.sleep(8);
            }
        } catch (IOException e) {
            System.err.println("counters: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Path folder = Incident.temporaryFolder("visits");
        for (String site : new String[] {"shop", "blog", "forum"}) {
            CounterFile counters = new CounterFile(folder.resolve(site + ".counters"));
            new Thread(() -> browse(counters), site).start();
        }
        new Timer("rotation", true).schedule(new TimerTask() {
            @Override
            public void run() {
                folder.toFile().listFiles();
            }
        }, 2000, 2000);
        Thread.sleep(400);
        Incident.ready();
    }
}
