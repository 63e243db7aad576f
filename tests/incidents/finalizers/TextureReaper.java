/*
 * incident: Textures are freed by a thread of the program's own that takes phantom references from a queue, 80 ms for each: the queue grows.
 * names: queue-grows|queue-backlog Reaper.free
 * flags: -Xmx64m
 * jfr: none
 */
package finalizers;

import incidents.Incident;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

public final class TextureReaper {
    static final class Texture {
        private final byte[] pixels = new byte[4096];

        int first() {
            return pixels[0];
        }
    }

    static final class Handle extends PhantomReference<Texture> {
        private final int number;

        Handle(Texture texture, int number, ReferenceQueue<Texture> queue) {
            super(texture, queue);
            this.number = number;
        }
    }

    static final class Reaper extends Thread {
        private final ReferenceQueue<Texture> queue = new ReferenceQueue<>();
        private final Set<Handle> open = ConcurrentHashMap.newKeySet();

        Reaper() {
            super("texture-reaper");
            setDaemon(true);
        }

        Texture make(int number) {
            Texture texture = new Texture();
            open.add(new Handle(texture, number, queue));
            return texture;
        }

        private void free(Handle handle) throws InterruptedException {
            // The driver does not like to be asked for two at once.
            Thread.sleep(80 + handle.number % 2);
            open.remove(handle);
        }

        @Override
        public void run() {
            try {
                while (true) {
                    free((Handle) queue.remove());
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Reaper reaper = new Reaper();
        reaper.start();
        AtomicInteger frames = new AtomicInteger();
        ScheduledExecutorService game = Executors.newScheduledThreadPool(2);
        game.scheduleAtFixedRate(() -> {
            for (int i = 0; i < 40; i++) {
                reaper.make(frames.incrementAndGet()).first();
            }
        }, 0, 40, TimeUnit.MILLISECONDS);
        Thread.sleep(4000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
