/*
 * incident: Each connection gets a new direct buffer and drops it, so that the limit is reached and the JDK calls System.gc() for room.
 * names: direct-memory|gc-explicit DirectBuffers.lease
 * flags: -XX:MaxDirectMemorySize=64m -Xmx128m
 * jfr: jdk.GarbageCollection System.gc()
 */
import incidents.Incident;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;

public final class DirectBuffers {
    private static final int SIZE = 4 << 20;

    private final Deque<ByteBuffer> open = new ArrayDeque<>();
    private long sum;

    private static ByteBuffer lease() {
        return ByteBuffer.allocateDirect(SIZE);
    }

    private void connect(int number) {
        ByteBuffer buffer = lease();
        buffer.putInt(number);
        open.addLast(buffer);
        while (open.size() > 12) {
            close(open.removeFirst());
        }
    }

    private void close(ByteBuffer buffer) {
        sum += buffer.flip().remaining();
    }

    private void accept() {
        try {
            for (int number = 0; ; number++) {
                connect(number);
                Thread.sleep(70);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        DirectBuffers server = new DirectBuffers();
        new Thread(server::accept, "acceptor").start();
        Thread.sleep(2000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
