/*
 * incident: The HTTP server was given no executor, so its only dispatcher thread runs the slow handler and all others wait for it.
 * names: slow-dispatcher Dispatcher.renderInvoice
 * jfr: none
 */
package requests;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

public final class Dispatcher {
    private final Map<String, Integer> served = new ConcurrentHashMap<>();

    private void answer(HttpExchange exchange, String text) throws IOException {
        served.merge(exchange.getRequestURI().getPath(), 1, Integer::sum);
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    private static String renderInvoice(long number) {
        // The printer service takes its time.
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(220));
        return "invoice " + number;
    }

    private HttpServer serve() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        server.createContext("/invoice", exchange -> answer(exchange, renderInvoice(System.nanoTime())));
        server.createContext("/health", exchange -> answer(exchange, "up"));
        server.start();
        return server;
    }

    private static void ask(HttpClient http, URI uri) {
        http.sendAsync(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.discarding())
            .whenComplete((response, failure) -> ask(http, uri));
    }

    /** The load, in a process of its own. */
    static final class Callers {
        public static void main(String[] args) throws InterruptedException {
            HttpClient http = HttpClient.newHttpClient();
            for (int i = 0; i < 6; i++) {
                ask(http, URI.create("http://127.0.0.1:" + args[0] + (i % 3 == 0 ? "/health" : "/invoice")));
            }
            Incident.readyAsChild("calling");
            // Its threads are daemons.
            Incident.untilStdinEnds();
        }
    }

    public static void main(String[] args) throws Exception {
        Dispatcher dispatcher = new Dispatcher();
        HttpServer server = dispatcher.serve();
        Incident.child(Callers.class, server.getAddress().getPort());
        ExecutorService unused = Executors.newFixedThreadPool(8);
        for (int i = 0; i < 8; i++) {
            unused.submit(dispatcher.served::size);
        }
        Thread.sleep(2000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
