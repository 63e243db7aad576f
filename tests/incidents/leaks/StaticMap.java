/*
 * incident: A static registry remembers each call with its parameters, and forgets none.
 * names: heap-growth|heap-nearly-full Registry.remember
 * flags: -Xmx192m -Xmn8m
 * jfr: jdk.OldObjectSample Registry.remember
 */
import incidents.Incident;
import java.util.HashMap;
import java.util.Map;

public final class StaticMap {
    static final class Registry {
        private static final Map<Long, int[]> CALLS = new HashMap<>();

        static synchronized void remember(long call, int size) {
            CALLS.put(call, new int[size]);
        }
    }

    private static String answer(long call) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            text.append("item ").append(call + i).append('\n');
        }
        return text.toString();
    }

    private static void handle(long call) {
        if (!answer(call).isEmpty()) {
            Registry.remember(call, 200);
        }
    }

    private static void serve() {
        try {
            for (long call = 0; ; call++) {
                handle(call);
                if (call % 10 == 0) {
                    Thread.sleep(10);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(StaticMap::serve, "rpc-1").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
