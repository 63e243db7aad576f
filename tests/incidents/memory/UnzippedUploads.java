/*
 * incident: Uploads are read through a GZIPInputStream that nobody closes; the native memory of each waits for a collection.
 * names: memory-growth Uploads.
 * flags: -Xmx1g -Xms1g
 * jfr: none
 */
package com.acme.uploads;

import incidents.Incident;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

public final class UnzippedUploads {
    static final class Uploads {
        private final byte[] zipped;

        Uploads() throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
                for (int i = 0; i < 20_000; i++) {
                    out.write(("line " + i + " of an upload\n").getBytes());
                }
            }
            zipped = bytes.toByteArray();
        }

        int first() {
            try {
                return new GZIPInputStream(new ByteArrayInputStream(zipped)).readNBytes(400).length;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Uploads uploads = new Uploads();
        Incident.start("uploads", () -> {
            while (uploads.first() > 0) {
                Incident.sleep(4);
            }
        });
        Thread.sleep(1000);
        Incident.readyUntilTheEnd();
    }
}
