/*
 * incident: Eight busy processes beside the JVM take the CPUs, and its two workers wait for one.
 * names: cpu-queue|cpu-run-queue *
 * load: cpu
 * jfr: none
 */
import incidents.Incident;
import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;

public final class NeighbourTakesAll {
    private static final int NEIGHBOURS = 8;

    /** Counts in a shell until the JVM is gone. */
    private static void startNeighbour(long jvm) throws IOException {
        String script = "while kill -0 " + jvm + " 2>/dev/null; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done";
        Incident.adopt(new ProcessBuilder("sh", "-c", script).start());
    }

    private final LongAdder primes = new LongAdder();

    private static boolean isPrime(int number) {
        for (int divisor = 2; divisor * divisor <= number; divisor++) {
            if (number % divisor == 0) {
                return false;
            }
        }
        return true;
    }

    private void search(int from) {
        for (int number = from; ; number = number > 50_000_000 ? from : number + 2) {
            if (isPrime(number)) {
                primes.increment();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        long self = ProcessHandle.current().pid();
        for (int i = 0; i < NEIGHBOURS; i++) {
            startNeighbour(self);
        }
        NeighbourTakesAll work = new NeighbourTakesAll();
        new Thread(() -> work.search(10_000_001), "worker-1").start();
        new Thread(() -> work.search(20_000_001), "worker-2").start();
        Thread.sleep(800);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
