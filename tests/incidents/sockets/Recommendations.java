/*
 * incident: The page asks the recommendation service over HTTP, and that one answers each request only after 700 ms.
 * names: slow-peer Recommender.forCustomer
 * jfr: none
 */
package sockets;

import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

public final class Recommendations {
    static final class Recommender {
        private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
        private final URI service;

        Recommender(int port) {
            service = URI.create("http://127.0.0.1:" + port + "/recommend?customer=");
        }

        List<String> forCustomer(int customer) throws IOException, InterruptedException {
            HttpRequest request = HttpRequest.newBuilder(URI.create(service.toString() + customer)).GET().build();
            HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
            return Arrays.asList(response.body().split(","));
        }
    }

    /** The service, in a process of its own. */
    static final class Service {
        public static void main(String[] args) throws IOException {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
            server.createContext("/recommend", exchange -> {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(700));
                byte[] body = "socks,shoes,laces".getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
                exchange.close();
            });
            server.setExecutor(Executors.newFixedThreadPool(16));
            server.start();
            Incident.readyAsChild(server.getAddress().getPort());
        }
    }

    private static void showPages(Recommender recommender, int visitor) {
        try {
            for (int page = 0; ; page++) {
                if (recommender.forCustomer(visitor * 1000 + page).isEmpty()) {
                    System.err.println("nothing to recommend");
                }
            }
        } catch (IOException | InterruptedException e) {
            System.err.println("no recommendations: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        Process service = Incident.child(Service.class);
        Recommender recommender;
        try (BufferedReader port = new BufferedReader(new InputStreamReader(service.getInputStream()))) {
            recommender = new Recommender(Integer.parseInt(port.readLine()));
        }
        ExecutorService visitors = Executors.newFixedThreadPool(6);
        for (int i = 0; i < 6; i++) {
            int visitor = i;
            visitors.execute(() -> showPages(recommender, visitor));
        }
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
