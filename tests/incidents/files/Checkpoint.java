/*
 * incident: Workers save their progress into a new file after every step and call sync on it, and spend their time in the disk.
 * names: slow-disk Checkpoint.save
 * load: cpu
 * jfr: none
 */
package files;

import incidents.Incident;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

public final class Checkpoint {
    private final Path folder;

    Checkpoint(Path folder) {
        this.folder = folder;
    }

    void save(String worker, byte[] state) throws IOException {
        Path next = folder.resolve(worker + ".next");
        try (FileOutputStream out = new FileOutputStream(next.toFile())) {
            out.write(state);
            out.getFD().sync();
        }
        Files.move(next, folder.resolve(worker), java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    }

    /** One part of the nightly calculation. */
    private static final class Worker extends Thread {
        private final Checkpoint checkpoint;
        private final byte[] state = new byte[300_000];

        Worker(int number, Checkpoint checkpoint) {
            super("worker-" + number);
            setDaemon(true);
            this.checkpoint = checkpoint;
        }

        private void step(int number) {
            for (int i = 0; i < 1000; i++) {
                state[(number + i * 31) % state.length]++;
            }
        }

        @Override
        public void run() {
            try {
                for (int i = 0; ; i++) {
                    step(i);
                    checkpoint.save(getName(), state);
                }
            } catch (IOException e) {
                System.err.println(getName() + ": " + e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Checkpoint checkpoint = new Checkpoint(Incident.temporaryFolder("checkpoints"));
        for (int i = 0; i < 3; i++) {
            new Worker(i, checkpoint).start();
        }
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
