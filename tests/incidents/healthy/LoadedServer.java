/*
 * healthy: An HTTP server whose four clients ask about 25 times a second each; answers take well below a millisecond.
 * load: cpu
 */
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;

public final class LoadedServer {
    private static final Map<Integer, String> BOOKS = new TreeMap<>();

    static {
        for (int i = 0; i < 200; i++) {
            BOOKS.put(i, "book number " + i);
        }
    }

    private static String list(int from) {
        StringBuilder text = new StringBuilder();
        for (int i = from; i < from + 40; i++) {
            text.append(BOOKS.get(i % 200)).append('\n');
        }
        return text.toString();
    }

    private static void books(HttpExchange exchange) throws IOException {
        int from = Integer.parseInt(exchange.getRequestURI().getQuery());
        byte[] body = list(from).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private static void browse(int port, int seed) {
        try {
            for (int i = seed; ; i++) {
                try (InputStream in = new URL("http://127.0.0.1:" + port + "/books?" + i % 200).openStream()) {
                    in.readAllBytes();
                }
                Thread.sleep(40);
            }
        } catch (IOException e) {
            System.err.println("no books: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        // Else the bodies of answers wait 40 ms on older JDKs, until the client has acknowledged their heads: that is not healthy.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/books", LoadedServer::books);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
        for (int i = 0; i < 4; i++) {
            int seed = i * 50;
            new Thread(() -> browse(server.getAddress().getPort(), seed), "client-" + i).start();
        }
        Thread.sleep(2000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
