/*
 * incident: All sessions are in one Collections.synchronizedMap, over which a report iterates while it holds its monitor.
 * names: lock-contention|lock-chain SynchronizedMap
 * jfr: jdk.JavaMonitorEnter SynchronizedMap
 */
package locks;

import incidents.Incident;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

public final class SynchronizedMap {
    private final Map<Integer, long[]> sessions = Collections.synchronizedMap(new HashMap<>());
    private long touched;

    private void touch(int id) {
        long[] session = sessions.get(id);
        if (session == null) {
            sessions.put(id, new long[4]);
        } else {
            session[0]++;
        }
    }

    private long report() {
        long sum = 0;
        synchronized (sessions) {
            for (int round = 0; round < 400; round++) {
                for (long[] session : sessions.values()) {
                    sum += session[0] * round;
                }
            }
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        SynchronizedMap shop = new SynchronizedMap();
        for (int id = 0; id < 20_000; id++) {
            shop.touch(id);
        }
        Incident.start("statistics", () -> {
            while (shop.touched >= 0) {
                shop.touched += shop.report() & 1;
                Incident.sleep(10);
            }
        });
        for (int i = 0; i < 6; i++) {
            int first = i * 1000;
            Incident.start("http-" + i, () -> {
                for (int id = first; true; id = (id + 1) % 20_000) {
                    shop.touch(id);
                    Incident.sleep(2);
                }
            });
        }
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
