/*
 * incident: An import reads each file as a whole. One does not fit into the heap, and is tried again and again; the error is caught with all others.
 * names: out-of-memory WholeFiles.read
 * flags: -Xmx96m
 * jfr: none
 */
package memory;

import incidents.Incident;

public final class WholeFiles {
    private static long imported;
    private static long failed;

    private static void read(int bytes) {
        byte[] whole = new byte[bytes];
        whole[bytes / 2] = 1;
        imported += whole.length;
    }

    private static void work() {
        try {
            for (int file = 0; ; file++) {
                try {
                    read(file % 3 == 2 ? 400 << 20 : 1 << 20);
                } catch (Throwable e) {
                    failed++;
                }
                Thread.sleep(150);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(WholeFiles::work, "import").start();
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
