/*
 * incident: A start script was left with -Xint from a bug hunt, so the whole JVM interprets, and each invoice takes forty times as long.
 * names: not-compiled BatchInInterpreter
 * flags: -Xint
 * load: cpu
 * jfr: none
 */
import incidents.Incident;
import java.util.Random;

public final class BatchInInterpreter {
    private final long[] amounts = new long[20_000];
    private long invoices;

    private BatchInInterpreter() {
        Random random = new Random(7);
        for (int i = 0; i < amounts.length; i++) {
            amounts[i] = random.nextInt(10_000);
        }
    }

    private long total(int rate) {
        long sum = 0;
        for (long amount : amounts) {
            sum += amount * rate / 100;
        }
        return sum;
    }

    private long taxes(int rate) {
        long sum = 0;
        for (int i = 0; i < amounts.length; i += 2) {
            sum += amounts[i] / 5 + amounts[i + 1] % rate;
        }
        return sum;
    }

    private void bill() {
        while (invoices >= 0) {
            int rate = (int) (invoices % 17) + 3;
            invoices += (total(rate) + taxes(rate)) % 2 + 1;
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new BatchInInterpreter()::bill, "billing").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
