/*
 * incident: The heap is nearly full of live data, so that the constant garbage of requests makes the collector run all the time.
 * names: heap-nearly-full|gc-full|gc-share|cpu-gc *
 * flags: -Xmx64m
 * load: cpu
 * jfr: none
 */
import incidents.Incident;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

public final class NearlyFull {
    private static final int CUSTOMERS = 46_000;

    private final Map<Integer, byte[]> customers = new HashMap<>();
    private long served;

    private void loadAll() {
        for (int id = 0; id < CUSTOMERS; id++) {
            customers.put(id, new byte[1024]);
        }
    }

    private int serve(int id) {
        byte[] answer = new byte[4096];
        System.arraycopy(customers.get(id), 0, answer, 0, 1024);
        return answer[id % answer.length];
    }

    private void serveAll() {
        while (served >= 0) {
            served += serve(ThreadLocalRandom.current().nextInt(CUSTOMERS)) + 1;
            if (served % 5000 == 0) {
                customers.put(ThreadLocalRandom.current().nextInt(CUSTOMERS), new byte[1024]);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        NearlyFull crm = new NearlyFull();
        crm.loadAll();
        new Thread(crm::serveAll, "http-worker").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
