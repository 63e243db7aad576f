import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A thread that makes objects of many kinds, as programs do; the JVM's own counter says how many bytes it made. */
public final class Allocated {
    private static final int KEYS = 3000;

    public static void main(String[] args) throws Exception {
        com.sun.management.ThreadMXBean threads =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Session.serve(session -> {
            Allocator allocator = new Allocator();
            allocator.start();
            allocator.await();
            session.expect("bytes_of_thread", allocator.getName(), threads.getThreadAllocatedBytes(allocator.getId()));
        });
    }

    /** Waits when it is done, so that its counter and its name can be read. */
    private static final class Allocator extends Thread {
        private final Object lock = new Object();
        private Map<String, List<int[]>> made;

        Allocator() {
            super("allocator");
            setDaemon(true);
        }

        @Override
        public void run() {
            Map<String, List<int[]>> all = new HashMap<>();
            for (int i = 0; i < KEYS; i++) {
                all.computeIfAbsent("key-" + i % 1000, key -> new ArrayList<>()).add(new int[i % 50]);
            }
            // Larger than a TLAB.
            all.put("large", Collections.singletonList(new int[1 << 20].clone()));
            synchronized (lock) {
                made = all;
                lock.notifyAll();
                try {
                    lock.wait();
                } catch (InterruptedException impossible) {
                    throw new AssertionError(impossible);
                }
            }
        }

        void await() throws InterruptedException {
            synchronized (lock) {
                while (made == null) {
                    lock.wait();
                }
            }
        }
    }
}
