/*
 * healthy: An HTTP server that is asked for its health once a second, with a scheduler for its metrics.
 */
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

public final class QuietServer {
    private final LongAdder asked = new LongAdder();

    private void health(HttpExchange exchange) throws IOException {
        asked.increment();
        byte[] body = ("asked " + asked.sum() + " times\n").getBytes();
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private static void probe(int port) {
        try (InputStream in = new URL("http://127.0.0.1:" + port + "/health").openStream()) {
            in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        QuietServer quiet = new QuietServer();
        server.createContext("/health", quiet::health);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
        int port = server.getAddress().getPort();
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
        timer.scheduleAtFixedRate(() -> probe(port), 0, 1, TimeUnit.SECONDS);
        timer.scheduleAtFixedRate(quiet.asked::sum, 0, 5, TimeUnit.SECONDS);
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
