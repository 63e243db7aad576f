/*
 * incident: Large heap buffers are written through channels by ever more threads, and each keeps a direct copy of its own.
 * names: memory-growth|direct-memory|thread-leak Archive.|ThreadBuffers
 * flags: -Xmx512m
 * jfr: jdk.ThreadStart tenant
 */
package com.acme.archive;

import incidents.Incident;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;

public final class ThreadBuffers {
    static final class Archive {
        private final Path file;

        Archive(Path file) {
            this.file = file;
        }

        void store(ByteBuffer page) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.write(page, 0);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Archive archive = new Archive(Incident.temporaryFile("archive", ".bin"));
        Incident.start("accept", () -> {
            for (int n = 0; ; n++) {
                Incident.start("tenant-" + n, () -> {
                    archive.store(ByteBuffer.allocate(3 << 20));
                    while (true) {
                        LockSupport.park();
                    }
                });
                Incident.sleep(250);
            }
        });
        Thread.sleep(1000);
        Incident.readyUntilTheEnd();
    }
}
