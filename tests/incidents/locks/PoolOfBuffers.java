/*
 * incident: Twelve encoders take their buffer from a pool that has only two, and each keeps it for 15 ms.
 * names: pool-exhausted|lock-queue BufferPool.take
 * jfr: jdk.ThreadPark BufferPool.take
 */
package locks;

import incidents.Incident;
import java.nio.ByteBuffer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;

public final class PoolOfBuffers {
    static final class BufferPool {
        private final BlockingQueue<ByteBuffer> free = new LinkedBlockingQueue<>();

        BufferPool(int count, int bytes) {
            for (int i = 0; i < count; i++) {
                free.add(ByteBuffer.allocate(bytes));
            }
        }

        ByteBuffer take() throws InterruptedException {
            return free.take().clear();
        }

        void put(ByteBuffer buffer) {
            free.add(buffer);
        }
    }

    private final BufferPool buffers = new BufferPool(2, 4096);

    private long encode(int channel, long frame) throws InterruptedException {
        ByteBuffer buffer = buffers.take();
        try {
            while (buffer.hasRemaining()) {
                buffer.put((byte) (channel + frame));
            }
            return send(buffer.flip());
        } finally {
            buffers.put(buffer);
        }
    }

    private static long send(ByteBuffer buffer) throws InterruptedException {
        CRC32 sum = new CRC32();
        sum.update(buffer);
        TimeUnit.MILLISECONDS.sleep(15);
        return sum.getValue();
    }

    public static void main(String[] args) throws Exception {
        PoolOfBuffers encoders = new PoolOfBuffers();
        ExecutorService channels = Executors.newCachedThreadPool();
        for (int i = 0; i < 12; i++) {
            int channel = i;
            channels.submit(() -> {
                long sum = 0;
                for (long frame = 0; ; frame++) {
                    sum ^= encoders.encode(channel, frame);
                }
            });
        }
        Thread.sleep(300);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
