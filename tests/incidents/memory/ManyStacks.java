/*
 * incident: Each subscription keeps a thread that has gone 20000 calls deep, and the memory of its stack with it.
 * names: thread-leak|memory-growth ManyStacks
 * flags: -Xss4m
 * jfr: jdk.ThreadStart ManyStacks
 */
import incidents.Incident;
import java.util.concurrent.CountDownLatch;

public final class ManyStacks {
    private final CountDownLatch end = new CountDownLatch(1);
    private int open;

    /** Descends into a rule and its parts, and waits for news at the innermost one. */
    private long follow(int depth, long a, long b, long c) {
        if (depth == 0) {
            awaitNews();
            return a;
        }
        return follow(depth - 1, b, c, a + depth) + c;
    }

    private void awaitNews() {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void subscribe() {
        Thread thread = new Thread(() -> follow(20_000, 1, 2, 3), "subscription-" + open++);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        ManyStacks news = new ManyStacks();
        Thread clients = new Thread(() -> {
            try {
                while (true) {
                    news.subscribe();
                    Thread.sleep(170);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "clients");
        clients.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
