/*
 * incident: An HTTP server with two workers has a handler that takes 300 ms, and requests of eight clients wait in its executor's queue.
 * names: executor-backlog ReportHandler
 * jfr: none
 */
package requests;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

public final class SlowReports {
    static final class ReportHandler implements HttpHandler {
        @Override
        public void handle(HttpExchange exchange) throws IOException {
            byte[] body = report(exchange.getRequestURI().getQuery()).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        }

        private String report(String query) {
            StringBuilder report = new StringBuilder();
            for (String part : List.of("head", "body", "tail")) {
                report.append(part).append(" of ").append(load(query)).append('\n');
            }
            return report.toString();
        }

        private String load(String query) {
            try {
                Thread.sleep(100);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return query;
        }
    }

    /** Browsers, in a process of their own. */
    static final class Clients {
        public static void main(String[] args) throws IOException {
            URL url = new URL("http://127.0.0.1:" + args[0] + "/report?month=5");
            for (int i = 0; i < 8; i++) {
                new Thread(() -> {
                    while (true) {
                        read(url);
                    }
                }).start();
            }
            Incident.readyAsChild("asking");
        }

        private static void read(URL url) {
            try (InputStream in = url.openStream()) {
                in.readAllBytes();
            } catch (IOException e) {
                LockSupport.parkNanos(100_000_000);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        server.createContext("/report", new ReportHandler());
        server.setExecutor(Executors.newFixedThreadPool(2));
        server.start();
        Incident.child(Clients.class, server.getAddress().getPort());
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(System::nanoTime, 1, 1, TimeUnit.SECONDS);
        Thread.sleep(2500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
