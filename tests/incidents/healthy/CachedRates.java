/*
 * healthy: Requests take a short lock around a map now and then at the same time, read from a pool of connections that is large enough, and reuse direct buffers.
 */
package healthy;

import incidents.Incident;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;

public final class CachedRates {
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Double> rates = new HashMap<>();
    private final Semaphore connections = new Semaphore(8);
    private final ThreadLocal<ByteBuffer> buffers = ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(8192));

    private double rate(String pair) {
        lock.lock();
        try {
            return rates.computeIfAbsent(pair, key -> key.hashCode() / 1000.0);
        } finally {
            lock.unlock();
        }
    }

    private int store(double rate) throws InterruptedException {
        connections.acquire();
        try {
            ByteBuffer buffer = buffers.get();
            buffer.clear();
            for (int i = 0; i < 100; i++) {
                buffer.putDouble(rate + i);
            }
            return buffer.flip().remaining();
        } finally {
            connections.release();
        }
    }

    private void requests(int user) {
        try {
            for (int i = 0; ; i++) {
                for (int n = 0; n < 20; n++) {
                    store(rate("EUR-" + (user * 31 + i + n) % 50));
                }
                Thread.sleep(12 + user);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        CachedRates rates = new CachedRates();
        ExecutorService pool = Executors.newFixedThreadPool(8);
        for (int i = 0; i < 6; i++) {
            int user = i;
            pool.execute(() -> rates.requests(user));
        }
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
