/*
 * incident: A build plugin starts the service with -XX:TieredStopAtLevel=1 for a quick start, and the option has reached production.
 * names: first-compiler-only *
 * flags: -XX:TieredStopAtLevel=1
 * load: cpu
 * jfr: none
 */
import incidents.Incident;
import java.util.Arrays;
import java.util.Random;

public final class QuickStart {
    private final double[] prices = new double[50_000];
    private long quotes;

    private QuickStart() {
        Random random = new Random(11);
        Arrays.setAll(prices, i -> random.nextDouble() * 100);
    }

    private double quote(int seed) {
        double sum = 0;
        for (int i = 0; i < prices.length; i++) {
            sum += Math.sqrt(prices[(i * 31 + seed) % prices.length]) * discount(i);
        }
        return sum;
    }

    private static double discount(int position) {
        return position % 3 == 0 ? 0.9 : 1.0;
    }

    private void serve() {
        while (quotes >= 0) {
            quotes += quote((int) (quotes & 1023)) > 0 ? 1 : 2;
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new QuickStart()::serve, "quotes").start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
