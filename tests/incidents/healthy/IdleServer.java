/*
 * healthy: An HTTP server with a pool of eight threads that nobody asks anything.
 */
package healthy;

import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

public final class IdleServer {
    private static HttpServer start() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        byte[] body = "up\n".getBytes(StandardCharsets.UTF_8);
        server.createContext("/health", exchange -> {
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
        return server;
    }

    /** Asks it once, so that it is warm. */
    private static void greet(HttpServer server) throws IOException {
        java.net.URL url = new java.net.URL("http://127.0.0.1:" + server.getAddress().getPort() + "/health");
        for (int i = 0; i < 16; i++) {
            try (java.io.InputStream in = url.openStream()) {
                in.readAllBytes();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        HttpServer server = start();
        greet(server);
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
