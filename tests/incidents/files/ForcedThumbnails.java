/*
 * incident: Thumbnails are written to new files that are each forced to the disk by a helper of a library, deep below the program's line.
 * names: slow-disk Gallery.|DurableFiles.
 * jfr: jdk.FileForce Gallery
 */
package com.acme.gallery;

import incidents.Incident;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

public final class ForcedThumbnails {
    static final class DurableFiles {
        static void write(Path file, byte[] bytes) {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.wrap(bytes), 0);
                channel.force(true);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static final class Gallery {
        private final Path folder;

        Gallery(Path folder) {
            this.folder = folder;
        }

        void add(int picture) {
            DurableFiles.write(folder.resolve("thumb-" + picture), new byte[20_000]);
        }
    }

    public static void main(String[] args) throws Exception {
        Gallery gallery = new Gallery(Incident.temporaryFolder("gallery"));
        for (int i = 0; i < 3; i++) {
            int number = i;
            Incident.start("upload-" + i, () -> {
                for (int n = number; ; n += 3) {
                    gallery.add(n % 300);
                }
            });
        }
        Thread.sleep(500);
        Incident.readyUntilTheEnd();
    }
}
