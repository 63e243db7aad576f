/*
 * incident: Answers are cached under the id of their request, which never comes again, and the cache has no limit.
 * names: heap-growth|heap-nearly-full UnboundedCache
 * flags: -Xmx192m -Xmn3m
 * jfr: jdk.OldObjectSample UnboundedCache
 */
import incidents.Incident;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.LockSupport;

public final class UnboundedCache {
    private final ConcurrentMap<String, byte[]> cache = new ConcurrentHashMap<>();
    private volatile long sent;

    private byte[] compute(String request) {
        StringBuilder page = new StringBuilder("<html>");
        for (int i = 0; i < 60; i++) {
            page.append("<p>").append(request).append("</p>");
        }
        return page.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    private void answer(String request) {
        sent += cache.computeIfAbsent(request, this::compute).length;
    }

    private void serve(int worker) {
        for (long number = 0; ; number++) {
            answer("req-" + worker + "-" + number);
            if (number % 4 == 0) {
                LockSupport.parkNanos(19_000_000);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        UnboundedCache proxy = new UnboundedCache();
        for (int i = 0; i < 3; i++) {
            int worker = i;
            new Thread(() -> proxy.serve(worker), "proxy-" + i).start();
        }
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
