/*
 * incident: Two importers read orders from named pipes, to which nobody writes any more.
 * names: slow-disk|slow-process OrderPipe.next
 * jfr: none
 */
package files;

import incidents.Incident;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public final class PipeRead {
    static final class OrderPipe {
        private final RandomAccessFile pipe;
        private final byte[] order = new byte[64];

        OrderPipe(Path path) throws IOException, InterruptedException {
            Process mkfifo = new ProcessBuilder("mkfifo", path.toString()).inheritIO().start();
            if (mkfifo.waitFor() != 0) {
                throw new IOException("mkfifo failed");
            }
            // Open for writing as well, so that its end never comes.
            pipe = new RandomAccessFile(path.toFile(), "rw");
        }

        void greet() throws IOException {
            pipe.write("order 1\n".getBytes(StandardCharsets.US_ASCII));
        }

        String next() throws IOException {
            int length = pipe.read(order);
            return new String(order, 0, Math.max(0, length), StandardCharsets.US_ASCII);
        }
    }

    private static void importOrders(OrderPipe pipe, AtomicInteger imported) {
        try {
            while (!pipe.next().isEmpty()) {
                imported.incrementAndGet();
            }
        } catch (IOException e) {
            System.err.println("import: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        Path folder = Incident.temporaryFolder("orders");
        AtomicInteger imported = new AtomicInteger();
        for (String name : new String[] {"web", "phone"}) {
            OrderPipe pipe = new OrderPipe(folder.resolve(name + ".fifo"));
            pipe.greet();
            new Thread(() -> importOrders(pipe, imported), "import-" + name).start();
        }
        ScheduledExecutorService status = Executors.newSingleThreadScheduledExecutor();
        status.scheduleAtFixedRate(imported::get, 1, 1, TimeUnit.SECONDS);
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
