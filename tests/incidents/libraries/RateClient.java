/*
 * incident: Every tenth answer is not read to its end, so that its connection never comes back to the client.
 * names: pool-exhausted RateClient.rate
 * jars: libhttpclient-java/httpclient libhttpcore-java/httpcore libcommons-logging-java/commons-logging libcommons-codec-java/commons-codec
 */
package libraries;

import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import org.apache.http.client.methods.CloseableHttpResponse;
import org.apache.http.client.methods.HttpGet;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClients;
import org.apache.http.util.EntityUtils;

public final class RateClient {
    private final CloseableHttpClient client = HttpClients.custom().setMaxConnPerRoute(8).build();
    private final String url;

    private RateClient(int port) {
        url = "http://127.0.0.1:" + port + "/";
    }

    private void rate(int number) throws IOException {
        CloseableHttpResponse response = client.execute(new HttpGet(url));
        if (number % 10 < 9) {
            EntityUtils.consume(response.getEntity());
        }
    }

    private void work() {
        for (int number = 0;; number++) {
            try {
                rate(number);
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", exchange -> {
            byte[] answer = new byte[2000];
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        RateClient rates = new RateClient(server.getAddress().getPort());
        for (int i = 0; i < 10; i++) {
            Incident.start("rates-" + i, rates::work);
        }
        Incident.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
