/*
 * incident: Each upload gets a direct buffer of its own, so the limit for them is reached again and again, and the JVM collects to free some.
 * names: direct-memory UploadBuffers$Upload.
 * flags: -XX:MaxDirectMemorySize=64m
 * jfr: jdk.GarbageCollection System.gc
 */
import incidents.Incident;
import java.nio.ByteBuffer;

public final class UploadBuffers {
    private static volatile int sum;

    static final class Upload {
        private final ByteBuffer content = ByteBuffer.allocateDirect(1 << 20);

        int receive(int bytes) {
            for (int i = 0; i < bytes; i++) {
                content.put((byte) i);
            }
            content.flip();
            return content.get();
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 2; i++) {
            Thread worker = new Thread(() -> {
                while (!Thread.currentThread().isInterrupted()) {
                    sum += new Upload().receive(100_000);
                }
            }, "upload-" + i);
            worker.setDaemon(true);
            worker.start();
        }
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
