import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Paths;

/**
 * Methods with known shares of the CPU: {@code Cpu hot SECONDS} runs the same piece of work 60, 30 and 10 times in a hundred
 * below three methods; {@code Cpu sleep COUNT MILLIS} sleeps, and asks the kernel which sleeps it left its CPU for;
 * {@code Cpu churn SECONDS} makes garbage that lives for a while.
 */
public final class Cpu {
    private static final int[] SORTED = new int[512];
    private static long sink;

    private Cpu() {}

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        long number = Long.parseLong(args[1]);
        if (args[0].equals("hot")) {
            // Shares are those of compiled code.
            hot(System.nanoTime() + 1_500_000_000L);
        }
        System.out.println("READY");
        while (in.readLine() != null) {
            switch (args[0]) {
                case "hot":
                    long start = System.nanoTime();
                    long rounds = hot(start + number * 1_000_000_000L);
                    System.out.println("DONE rounds=" + rounds + " elapsed_ns=" + (System.nanoTime() - start));
                    break;
                case "sleep":
                    System.out.println("DONE sleeps=" + number + sleep(number, Integer.parseInt(args[2])));
                    break;
                default:
                    System.out.println("DONE kept=" + churn(System.nanoTime() + number * 1_000_000_000L));
                    break;
            }
        }
    }

    /** A round is short against the interval of samples, so that these fall on its parts by their lengths alone. */
    private static long hot(long end) {
        long rounds = 0;
        while (System.nanoTime() < end) {
            sixty();
            thirty();
            ten();
            rounds++;
        }
        return rounds;
    }

    private static void sixty() {
        for (int i = 0; i < 60; i++) {
            work(i);
        }
    }

    private static void thirty() {
        for (int i = 0; i < 30; i++) {
            work(i);
        }
    }

    private static void ten() {
        for (int i = 0; i < 10; i++) {
            work(i);
        }
    }

    /** The same number of steps each time, whatever the argument. */
    private static void work(int seed) {
        int value = seed;
        for (int i = 0; i < SORTED.length; i++) {
            value = value * 31 + SORTED[i];
            SORTED[i] = value ^ i;
        }
        sink += value;
    }

    /** A sleep whose time is over before the thread can leave its CPU is none: the kernel's own counters tell them apart. */
    private static String sleep(long number, int millis) throws Exception {
        long asleep = 0;
        long switches = 0;
        long askedNs = 0;
        for (int i = 0; i < number; i++) {
            long before = voluntarySwitches();
            nap(millis);
            long during = voluntarySwitches() - before;
            switches += during;
            if (during > 0) {
                asleep++;
                askedNs += millis * 1_000_000L;
            }
        }
        return " asleep=" + asleep + " switches=" + switches + " asked_ns=" + askedNs;
    }

    private static long voluntarySwitches() throws IOException {
        for (String line : Files.readAllLines(Paths.get("/proc/thread-self/status"))) {
            if (line.startsWith("voluntary_ctxt_switches:")) {
                return Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
            }
        }
        throw new IOException("the kernel counts no switches");
    }

    private static void nap(int millis) throws InterruptedException {
        Thread.sleep(millis);
    }

    private static long churn(long end) {
        Object[] kept = new Object[20_000];
        long made = 0;
        while (System.nanoTime() < end) {
            for (int i = 0; i < kept.length; i++) {
                kept[i] = new Object[] {new byte[64], kept[(i * 7) % kept.length] instanceof Object[] ? made : null};
                made++;
            }
        }
        return made + (kept[3] == null ? 0 : 1);
    }
}
