/*
 * healthy: Each of 100 requests a second has a virtual thread, which sleeps a little and computes hardly anything.
 * needs: 21
 */
import incidents.Incident;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.LongAdder;

public final class VirtualRequests {
    private final LongAdder answered = new LongAdder();
    private final ConcurrentHashMap<Integer, String> names = new ConcurrentHashMap<>();

    private void handle(int user) {
        String name = names.computeIfAbsent(user % 50, id -> "user " + id);
        try {
            Thread.sleep(5 + user % 20);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        answered.add(name.length());
    }

    private void listen(ExecutorService executor) {
        try {
            for (int i = 0; ; i++) {
                int user = i;
                executor.execute(() -> handle(user));
                Thread.sleep(10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        ExecutorService executor = Incident.virtualExecutor();
        VirtualRequests server = new VirtualRequests();
        new Thread(() -> server.listen(executor), "listener").start();
        Thread.sleep(800);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
