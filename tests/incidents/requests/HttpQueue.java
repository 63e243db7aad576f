/*
 * incident: The HTTP server has two threads, each request takes one of them for 100 ms, and eight clients wait for their turn.
 * names: executor-backlog BasketHandler.
 * jfr: jdk.SocketRead Client.visit
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
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

public final class HttpQueue {
    static final class BasketHandler implements HttpHandler {
        private final LongAdder served = new LongAdder();

        @Override
        public void handle(HttpExchange exchange) throws IOException {
            byte[] page = page(exchange.getRequestURI().getPath());
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
            served.increment();
        }

        private byte[] page(String path) throws IOException {
            try {
                TimeUnit.MILLISECONDS.sleep(100);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            return ("<h1>" + path + "</h1>").getBytes(StandardCharsets.UTF_8);
        }
    }

    static final class Client extends Thread {
        private final URL url;

        Client(URL url, int number) {
            super("client-" + number);
            this.url = url;
        }

        @Override
        public void run() {
            try {
                while (visit() > 0) {
                    Thread.sleep(5);
                }
            } catch (IOException | InterruptedException e) {
                System.err.println(getName() + ": " + e);
            }
        }

        private int visit() throws IOException {
            try (InputStream in = url.openStream()) {
                return in.readAllBytes().length;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        server.createContext("/basket", new BasketHandler());
        server.setExecutor(Executors.newFixedThreadPool(2));
        server.start();
        for (int i = 0; i < 8; i++) {
            String path = "http://127.0.0.1:" + server.getAddress().getPort() + "/basket/" + i;
            new Client(new URL(path), i).start();
        }
        Thread.sleep(1000);
        Incident.ready();
    }
}
