/*
 * incident: Each recommendation is fetched with a synchronous HttpClient.send, and the answer takes 300 ms.
 * names: slow-peer Recommendations.fetch
 * jfr: jdk.ThreadPark Recommendations.fetch
 */
package sockets;

import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class SlowHttpClient {
    static final class Recommendations {
        private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(5))
            .build();
        private final URI root;

        Recommendations(int port) {
            root = URI.create("http://127.0.0.1:" + port + "/");
        }

        String fetch(String user) throws IOException, InterruptedException {
            HttpRequest request = HttpRequest.newBuilder(root.resolve("for/" + user))
                .timeout(Duration.ofSeconds(20))
                .build();
            return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        }
    }

    private static int startEngine() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 20);
        server.createContext("/for/", exchange -> {
            byte[] body = ("books for " + exchange.getRequestURI().getPath().substring(5)).getBytes();
            nap(300);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(10));
        server.start();
        return server.getAddress().getPort();
    }

    private static void nap(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Recommendations recommendations = new Recommendations(startEngine());
        ExecutorService pages = Executors.newFixedThreadPool(6);
        for (int i = 0; i < 6; i++) {
            String user = "user" + i;
            pages.submit(() -> {
                long letters = 0;
                while (letters >= 0) {
                    letters += recommendations.fetch(user).length();
                }
                return letters;
            });
        }
        Thread.sleep(1200);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
