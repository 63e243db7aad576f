/*
 * incident: A request for which there is no stock tries again four times, and sleeps in between, on the thread that serves it.
 * names: sleeping-requests|executor-backlog StockRetries.ask
 */
package requests;

import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.concurrent.Executors;

public final class StockRetries {
    private static boolean inStock(int article) {
        return article < 0;
    }

    private static int ask(int article) {
        for (int times = 0; times < 4; times++) {
            if (inStock(article)) {
                return times;
            }
            try {
                Thread.sleep(100);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
        return -1;
    }

    private static void client(int port) {
        while (true) {
            try {
                new URL("http://127.0.0.1:" + port + "/").openStream().readAllBytes();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.createContext("/", exchange -> {
            byte[] answer = ("" + ask(7)).getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        int port = server.getAddress().getPort();
        for (int i = 0; i < 8; i++) {
            Incident.start("browser-" + i, () -> client(port));
        }
        Incident.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
