/*
 * healthy: Twelve clients keep a server of another thread pool busy with short requests, at about a third of one CPU.
 * load: cpu
 */
package com.acme.chat;

import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

public final class ChattyServer {
    static String render(int seed) {
        StringBuilder text = new StringBuilder();
        Random random = new Random(seed);
        for (int i = 0; i < 60; i++) {
            text.append("message ").append(random.nextInt(1000)).append(" of ").append(seed).append('\n');
        }
        return text.toString();
    }

    static void ask(URL url) throws Exception {
        HttpURLConnection connection = (HttpURLConnection) url.openConnection();
        try (InputStream in = connection.getInputStream()) {
            in.readAllBytes();
        }
    }

    public static void main(String[] args) throws Exception {
        // Else the bodies of answers wait 40 ms on older JDKs, until the client has acknowledged their heads: that is not healthy.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        server.createContext("/", exchange -> {
            byte[] body = render(exchange.getRequestURI().hashCode()).getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
        URL url = new URL("http://127.0.0.1:" + server.getAddress().getPort() + "/room/7");
        for (int i = 0; i < 12; i++) {
            Incident.start("client-" + i, () -> {
                try {
                    while (true) {
                        ask(url);
                        Thread.sleep(20 + ThreadLocalRandom.current().nextInt(20));
                    }
                } catch (Exception e) {
                    System.err.println("no answer: " + e);
                }
            });
        }
        Thread.sleep(3000);
        Incident.readyUntilTheEnd();
    }
}
