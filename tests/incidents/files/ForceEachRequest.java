/*
 * incident: Every request appends to the journal and forces it to the disk before it answers.
 * names: slow-disk Journal.append
 * disk: slow
 * jfr: none
 */
package files;

import incidents.Incident;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class ForceEachRequest {
    static final class Journal {
        private final FileChannel channel;

        Journal(Path file) throws IOException {
            channel = FileChannel.open(file, StandardOpenOption.WRITE);
        }

        void append(String entry) throws IOException {
            ByteBuffer bytes = StandardCharsets.UTF_8.encode(entry);
            synchronized (this) {
                // The file starts anew after a while, so that it remains small.
                long at = channel.position() > 200_000 ? 0 : channel.position();
                channel.position(at).write(bytes);
            }
            channel.force(true);
        }
    }

    private final Journal journal;

    private ForceEachRequest(Journal journal) {
        this.journal = journal;
    }

    private void handle(int client, long request) {
        try {
            journal.append("client " + client + " request " + request + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        ForceEachRequest service = new ForceEachRequest(new Journal(Incident.temporaryFile("journal", ".log")));
        ExecutorService requests = Executors.newFixedThreadPool(4);
        for (int i = 0; i < 4; i++) {
            int client = i;
            requests.submit(() -> {
                for (long request = 0; ; request++) {
                    service.handle(client, request);
                    Thread.sleep(6);
                }
            });
        }
        Thread.sleep(400);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
