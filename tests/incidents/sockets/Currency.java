/*
 * incident: Exchange rates are fetched by HttpURLConnection on the way of each booking, from a server that needs half a second.
 * names: slow-peer Rates.download
 * jfr: jdk.SocketRead Rates.download
 */
package sockets;

import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public final class Currency {
    static final class Rates {
        private final URL url;

        Rates(int port) throws IOException {
            url = new URL("http", "127.0.0.1", port, "/rates.csv");
        }

        private String download() throws IOException {
            HttpURLConnection connection = (HttpURLConnection) url.openConnection();
            connection.setReadTimeout(30_000);
            try (InputStream in = connection.getInputStream()) {
                return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
            }
        }

        BigDecimal rate(String currency) throws IOException {
            for (String line : download().split("\n")) {
                if (line.startsWith(currency)) {
                    return new BigDecimal(line.substring(4));
                }
            }
            throw new IOException("no rate for " + currency);
        }
    }

    private static BigDecimal book(Rates rates, BigDecimal amount, String currency) {
        try {
            return amount.multiply(rates.rate(currency));
        } catch (IOException e) {
            return amount;
        }
    }

    /** Stands for the bank, inside of this JVM. */
    private static HttpServer bank() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        byte[] rates = "USD 1.08\nGBP 0.85\nCHF 0.97\n".getBytes(StandardCharsets.US_ASCII);
        server.createContext("/rates.csv", exchange -> {
            try (OutputStream out = exchange.getResponseBody()) {
                TimeUnit.MILLISECONDS.sleep(500);
                exchange.sendResponseHeaders(200, rates.length);
                out.write(rates);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        server.setExecutor(Executors.newCachedThreadPool(task -> new Thread(task, "bank")));
        server.start();
        return server;
    }

    public static void main(String[] args) throws Exception {
        Rates rates = new Rates(bank().getAddress().getPort());
        for (String currency : List.of("USD", "GBP", "CHF", "USD", "GBP")) {
            Thread booking = new Thread(() -> {
                BigDecimal total = BigDecimal.ZERO;
                while (total.signum() >= 0) {
                    total = total.add(book(rates, BigDecimal.TEN, currency));
                }
            }, "booking-" + currency);
            booking.setDaemon(true);
            booking.start();
        }
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
