/*
 * incident: Each notification builds its own HttpClient, and each client keeps a selector thread until it is collected.
 * names: thread-churn|thread-leak|memory-growth ClientPerRequest
 * jfr: none
 */
import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class ClientPerRequest {
    private final URI hook;
    private int answers;

    private ClientPerRequest(int port) {
        hook = URI.create("http://127.0.0.1:" + port + "/hook");
    }

    private void push() {
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest request = HttpRequest.newBuilder(hook).POST(HttpRequest.BodyPublishers.ofString("{}")).build();
        try {
            answers += client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode() / 200;
        } catch (IOException e) {
            answers--;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static int startReceiver() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 20);
        server.createContext("/hook", exchange -> {
            exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.start();
        return server.getAddress().getPort();
    }

    public static void main(String[] args) throws Exception {
        ClientPerRequest notifier = new ClientPerRequest(startReceiver());
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        timer.scheduleAtFixedRate(notifier::push, 0, 12, TimeUnit.MILLISECONDS);
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
