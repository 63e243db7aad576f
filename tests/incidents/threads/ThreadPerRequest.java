/*
 * incident: Each request starts a thread of its own, which ends after a few milliseconds.
 * names: thread-churn ThreadPerRequest
 * jfr: jdk.ThreadStart ThreadPerRequest
 */
import incidents.Incident;
import java.util.concurrent.atomic.AtomicInteger;

public final class ThreadPerRequest {
    private final AtomicInteger answered = new AtomicInteger();
    private int number;

    private void handle(String request) {
        try {
            Thread.sleep(3 + request.length() % 3);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        answered.incrementAndGet();
    }

    private void accept(String request) {
        new Thread(() -> handle(request), "request-" + number++).start();
    }

    private void listen() {
        try {
            while (true) {
                accept("GET /" + answered.get());
                Thread.sleep(6);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new ThreadPerRequest()::listen, "listener").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
