/*
 * incident: Tasks append to a thread-local trace that is never removed, and the threads of the pool live for ever.
 * names: heap-growth|heap-nearly-full ThreadLocals
 * flags: -Xmx192m -Xmn8m
 * jfr: jdk.OldObjectSample ThreadLocals
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class ThreadLocals {
    private static final ThreadLocal<List<Step>> TRACE = ThreadLocal.withInitial(ArrayList::new);

    static final class Step {
        private final String text;
        private final long[] timings;

        Step(String text, long[] timings) {
            this.text = text;
            this.timings = timings;
        }
    }

    private static void trace(String text) {
        TRACE.get().add(new Step(text, new long[60]));
    }

    private static void task(int number) {
        trace("begin " + number);
        byte[] buffer = new byte[12_000];
        for (int i = 0; i < buffer.length; i++) {
            buffer[i] = (byte) (number + i);
        }
        trace("end " + number + " with " + buffer[number % buffer.length]);
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        Thread feeder = new Thread(() -> {
            try {
                for (int i = 0; ; i++) {
                    int number = i;
                    pool.execute(() -> task(number));
                    if (i % 8 == 0) {
                        Thread.sleep(9);
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "feeder");
        feeder.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
