/*
 * incident: A service on Shenandoah has a heap that is hardly larger than what it keeps, so that concurrent cycles give up and stop it.
 * names: gc-share|gc-full|heap-nearly-full|cpu-gc|gc-long-pause *
 * flags: -XX:+UseShenandoahGC -Xmx128m
 * load: cpu
 * jfr: none
 */
import incidents.Incident;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

public final class DegeneratedCycles {
    private static final int TARIFFS = 90_000;

    private final Map<Integer, byte[]> tariffs = new HashMap<>();
    private long rated;

    private void load() {
        for (int id = 0; id < TARIFFS; id++) {
            tariffs.put(id, new byte[900]);
        }
    }

    private int rate() {
        byte[] call = new byte[6000];
        byte[] tariff = tariffs.get(ThreadLocalRandom.current().nextInt(TARIFFS));
        System.arraycopy(tariff, 0, call, 0, tariff.length);
        return call[ThreadLocalRandom.current().nextInt(call.length)];
    }

    private void work() {
        while (rated >= 0) {
            rated += rate() + 1;
            if (rated % 3000 == 0) {
                tariffs.put(ThreadLocalRandom.current().nextInt(TARIFFS), new byte[900]);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        DegeneratedCycles rating = new DegeneratedCycles();
        rating.load();
        new Thread(rating::work, "rating").start();
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
