/*
 * incident: Pages of a server ask its own endpoint for parts; where four come at once, all four threads wait for one that nobody is left to serve.
 * names: slow-peer|executor-backlog OwnEndpoint.page
 * jfr: jdk.SocketRead OwnEndpoint.page
 */
package com.acme.portal;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

public final class OwnEndpoint {
    private final HttpServer server;

    OwnEndpoint() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/page", this::page);
        server.createContext("/part", exchange -> answer(exchange, "part"));
    }

    private void page(HttpExchange exchange) throws IOException {
        try (InputStream part = url("/part").openStream()) {
            answer(exchange, "page with " + part.read());
        }
    }

    private static void answer(HttpExchange exchange, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private URL url(String path) throws IOException {
        return new URL("http", "127.0.0.1", server.getAddress().getPort(), path);
    }

    public static void main(String[] args) throws Exception {
        OwnEndpoint portal = new OwnEndpoint();
        portal.server.start();
        Incident.child(Visitors.class, portal.server.getAddress().getPort());
        Thread.sleep(1500);
        Incident.readyUntilTheEnd();
    }

    static final class Visitors {
        public static void main(String[] args) throws Exception {
            URL page = new URL("http", "127.0.0.1", Integer.parseInt(args[0]), "/page");
            for (int i = 0; i < 8; i++) {
                Incident.start("visitor-" + i, () -> visit(page));
            }
            Incident.readyAsChild("visiting");
            Incident.untilStdinEnds();
        }

        private static void visit(URL page) {
            while (true) {
                try (InputStream answer = page.openStream()) {
                    answer.read();
                } catch (IOException e) {
                    // It asks again.
                }
            }
        }
    }
}
