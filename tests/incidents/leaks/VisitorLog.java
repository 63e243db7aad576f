/*
 * incident: The handler of a small HTTP server keeps an entry for each visitor, under a number that each of them gets anew.
 * names: collection-grows Visitors.seen
 * flags: -Xmx1g
 * jfr: none
 */
package leaks;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.HashMap;
import java.util.Map;

public final class VisitorLog {
    static final class Visitors implements HttpHandler {
        private final Map<Integer, String> seen = new HashMap<>();

        @Override
        public void handle(HttpExchange exchange) throws IOException {
            seen.put(seen.size(), exchange.getRequestMethod());
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write(new byte[] {'o', 'k'});
            exchange.close();
        }
    }

    private static void visit(URL page) {
        try {
            while (true) {
                try (InputStream answer = page.openStream()) {
                    answer.read(new byte[16]);
                }
                Thread.sleep(15);
            }
        } catch (IOException | InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", new Visitors());
        server.start();
        URL page = new URL("http://127.0.0.1:" + server.getAddress().getPort() + "/");
        new Thread(() -> visit(page), "visitor").start();
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
