/*
 * incident: The tax of each invoice is asked for over HTTP from a service of another process, which takes 250 ms.
 * names: slow-peer TaxClient.rate
 * jfr: jdk.SocketRead TaxClient.rate
 */
package sockets;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;

public final class SlowHttp {
    static final class TaxClient {
        private final String base;

        TaxClient(int port) {
            base = "http://127.0.0.1:" + port + "/rate?country=";
        }

        int rate(String country) throws IOException {
            HttpURLConnection connection = (HttpURLConnection) new URL(base + country).openConnection();
            connection.setRequestProperty("Accept", "text/plain");
            if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
                throw new IOException("no rate for " + country);
            }
            try (InputStream in = connection.getInputStream()) {
                return Integer.parseInt(new String(in.readAllBytes(), StandardCharsets.US_ASCII));
            }
        }
    }

    /** The other process. */
    static final class TaxOffice {
        public static void main(String[] args) throws IOException {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
            server.createContext("/rate", TaxOffice::answer);
            server.setExecutor(Executors.newCachedThreadPool());
            server.start();
            Incident.readyAsChild(server.getAddress().getPort());
        }

        private static void answer(HttpExchange exchange) throws IOException {
            try {
                Thread.sleep(250);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write(new byte[] {'1', '9'});
            exchange.close();
        }
    }

    private static void invoice(TaxClient client, LongAdder cents) {
        try {
            while (true) {
                cents.add(1000L * client.rate("DE") / 100);
            }
        } catch (IOException e) {
            System.err.println("invoices: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        Process office = Incident.child(TaxOffice.class);
        BufferedReader said = new BufferedReader(new InputStreamReader(office.getInputStream()));
        TaxClient client = new TaxClient(Integer.parseInt(said.readLine()));
        LongAdder cents = new LongAdder();
        for (int i = 0; i < 5; i++) {
            new Thread(() -> invoice(client, cents), "invoices-" + i).start();
        }
        Thread.sleep(800);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
