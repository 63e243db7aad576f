/*
 * incident: Ten thousand virtual threads wait for one of four permits, each of which is held for 40 ms.
 * names: lock-queue|pool-exhausted Turnstile.enter
 * needs: 21
 * jfr: none
 */
package virtual;

import incidents.Incident;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;

public final class TurnstileCrowd {
    /** Four at a time may pass. */
    static final class Turnstile {
        private final Semaphore gates = new Semaphore(4, true);
        private final LongAdder passed = new LongAdder();

        private void enter() throws InterruptedException {
            gates.acquire();
        }

        private void leave() {
            gates.release();
            passed.increment();
        }

        void pass(int ticket) throws InterruptedException {
            enter();
            try {
                scan(ticket);
            } finally {
                leave();
            }
        }

        private static void scan(int ticket) throws InterruptedException {
            Thread.sleep(40 + ticket % 2);
        }
    }

    private static void visit(Turnstile turnstile, int ticket) {
        try {
            while (true) {
                turnstile.pass(ticket);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Turnstile turnstile = new Turnstile();
        ExecutorService visitors = Incident.virtualExecutor();
        for (int i = 0; i < 10_000; i++) {
            int ticket = i;
            visitors.execute(() -> visit(turnstile, ticket));
        }
        Timer display = new Timer("display", true);
        display.schedule(new TimerTask() {
            @Override
            public void run() {
                turnstile.passed.sum();
            }
        }, 200, 200);
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
