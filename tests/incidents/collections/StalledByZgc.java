/*
 * incident: The heap of a service on ZGC is too small for its rate: threads that allocate wait for the collector to free pages.
 * names: allocation-stall|heap-nearly-full *
 * flags: -XX:+UseZGC -Xmx160m
 * load: cpu
 * jfr: jdk.ZAllocationStall *
 */
import incidents.Incident;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

public final class StalledByZgc {
    private static final int PRODUCTS = 80_000;

    private final Map<Integer, byte[]> products = new HashMap<>();

    private void load() {
        for (int id = 0; id < PRODUCTS; id++) {
            products.put(id, new byte[1000]);
        }
    }

    private int page() {
        byte[] html = new byte[48 * 1024];
        for (int i = 0; i < 12; i++) {
            byte[] product = products.get(ThreadLocalRandom.current().nextInt(PRODUCTS));
            System.arraycopy(product, 0, html, i * product.length, product.length);
        }
        return html[ThreadLocalRandom.current().nextInt(html.length)];
    }

    private void serve() {
        long sum = 0;
        while (sum >= 0) {
            sum += page() + 1;
        }
    }

    public static void main(String[] args) throws Exception {
        StalledByZgc shop = new StalledByZgc();
        shop.load();
        for (int i = 0; i < 4; i++) {
            new Thread(shop::serve, "page-" + i).start();
        }
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
