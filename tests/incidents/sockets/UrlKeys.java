/*
 * incident: A crawler keeps what it has seen in a HashSet of URL, whose hashCode and equals ask for the address of the host each time.
 * names: slow-peer|cpu-hot-line|cpu-hot-method UrlKeys
 * jfr: none
 */
import incidents.Incident;
import java.net.MalformedURLException;
import java.net.URL;
import java.util.HashSet;
import java.util.Set;

public final class UrlKeys {
    private final Set<URL> seen = new HashSet<>();
    private int pages;

    private boolean isNew(String link) throws MalformedURLException {
        return seen.add(new URL(link));
    }

    private void crawl() {
        while (pages >= 0) {
            try {
                if (isNew("http://host-" + pages % 5000 + ".invalid/index.html")) {
                    pages++;
                }
            } catch (MalformedURLException e) {
                pages += 2;
            }
            pages++;
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new UrlKeys()::crawl, "crawler").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
