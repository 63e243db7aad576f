/*
 * incident: A report is written into a pipe between two threads, whose reader is slow: the writers wait for room.
 * names: full-queue|lost-notify|lock-contention|lock-chain ReportPipe.
 * jfr: jdk.JavaMonitorWait ReportPipe
 */
package com.acme.report;

import incidents.Incident;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.UncheckedIOException;

public final class PipedReport {
    static final class ReportPipe {
        private final PipedOutputStream out = new PipedOutputStream();
        private final PipedInputStream in;

        ReportPipe() throws IOException {
            in = new PipedInputStream(out, 4096);
        }

        void write(byte[] page) {
            try {
                out.write(page);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        void mail() {
            try {
                while (in.readNBytes(1000).length > 0) {
                    Incident.sleep(30);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 4; i++) {
            ReportPipe pipe = new ReportPipe();
            Incident.start("writer-" + i, () -> {
                while (true) {
                    pipe.write(new byte[2000]);
                }
            });
            Incident.start("mailer-" + i, pipe::mail);
        }
        Thread.sleep(500);
        Incident.readyUntilTheEnd();
    }
}
