import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Scanner;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;

/** Serves 4 requests, and makes them: 3 with the old client of the JDK, 1 with the new one. None of them ends before the input does. */
public final class Requests {
    private static final int OLD = 3;
    private static final int NEW = 1;
    private static final CountDownLatch UNDER_WAY = new CountDownLatch(OLD + NEW);
    private static final CountDownLatch NEVER = new CountDownLatch(1);

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 20);
        server.createContext("/", Requests::answer);
        server.setExecutor(Executors.newFixedThreadPool(OLD + NEW));
        server.start();
        URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
        for (int i = 0; i < OLD; i++) {
            start(() -> askAsBefore(uri));
        }
        for (int i = 0; i < NEW; i++) {
            start(() -> ask(uri));
        }
        UNDER_WAY.await();
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            System.out.println("DONE");
        }
        // Requests are under way, and threads of the server and the client would keep the JVM.
        System.exit(0);
    }

    private static void answer(HttpExchange exchange) throws IOException {
        UNDER_WAY.countDown();
        try {
            NEVER.await();
        } catch (InterruptedException interrupted) {
            throw new IOException(interrupted);
        }
    }

    private static int askAsBefore(URI uri) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
        try (InputStream in = connection.getInputStream()) {
            return in.read();
        }
    }

    private static int ask(URI uri) throws IOException, InterruptedException {
        HttpClient client = HttpClient.newHttpClient();
        return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString()).statusCode();
    }

    private static void start(Callable<Integer> request) {
        Thread thread = new Thread(() -> {
            try {
                request.call();
            } catch (Exception ended) {
                throw new AssertionError(ended);
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
