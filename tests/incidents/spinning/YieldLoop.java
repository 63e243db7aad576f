/*
 * incident: Two workers wait for the start of the next round by Thread.yield in a loop.
 * names: spinning|cpu-hot-line YieldLoop.awaitRound
 * load: cpu
 * jfr: jdk.NativeMethodSample YieldLoop.awaitRound
 */
import incidents.Incident;
import java.util.concurrent.atomic.AtomicInteger;

public final class YieldLoop {
    private final AtomicInteger round = new AtomicInteger();
    private final AtomicInteger finished = new AtomicInteger();

    private void awaitRound(int wanted) {
        while (round.get() < wanted) {
            Thread.yield();
        }
    }

    private void worker() {
        for (int next = 1; ; next++) {
            awaitRound(next);
            finished.addAndGet(compute(next));
        }
    }

    private static int compute(int seed) {
        int value = seed;
        for (int i = 0; i < 1000; i++) {
            value = value * 31 + i;
        }
        return value == 0 ? 2 : 1;
    }

    private void rounds() {
        try {
            while (true) {
                Thread.sleep(400);
                round.incrementAndGet();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        YieldLoop game = new YieldLoop();
        for (int i = 0; i < 2; i++) {
            new Thread(game::worker, "worker-" + i).start();
        }
        new Thread(game::rounds, "rounds").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
