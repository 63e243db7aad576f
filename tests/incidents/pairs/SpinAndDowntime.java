/*
 * incident: The router spins until a message is there, and each reconnect to the broker leaves a heartbeat thread behind.
 * names: spinning|cpu-hot-line|cpu-hot-method SpinAndDowntime.nextMessage
 * names: thread-leak SpinAndDowntime.reconnect
 * load: cpu
 * jfr: jdk.ExecutionSample SpinAndDowntime.nextMessage
 */
import incidents.Incident;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

public final class SpinAndDowntime {
    private final ConcurrentLinkedDeque<String> messages = new ConcurrentLinkedDeque<>();
    private long routed;

    private String nextMessage() {
        String message;
        do {
            message = messages.pollFirst();
        } while (message == null);
        return message;
    }

    private void route() {
        while (routed >= 0) {
            routed += nextMessage().length();
        }
    }

    private static void heartbeat(CountDownLatch closed) {
        try {
            while (!closed.await(30, TimeUnit.SECONDS)) {
                // Still there.
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void reconnect(int attempt) {
        CountDownLatch closed = new CountDownLatch(1);
        Thread thread = new Thread(() -> heartbeat(closed), "heartbeat-" + attempt);
        thread.setDaemon(true);
        thread.start();
        messages.add("hello " + attempt);
    }

    public static void main(String[] args) throws Exception {
        SpinAndDowntime broker = new SpinAndDowntime();
        new Thread(broker::route, "router").start();
        Thread connection = new Thread(() -> {
            try {
                for (int attempt = 0; ; attempt++) {
                    broker.reconnect(attempt);
                    Thread.sleep(180);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "connection");
        connection.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
