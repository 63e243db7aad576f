/*
 * incident: Quotes ask a tax service by the JDK's asynchronous HTTP client and join; the service answers after 600 ms.
 * names: slow-peer|slow-task TaxGateway.|QuoteService.
 * jfr: jdk.ThreadPark TaxGateway
 */
package org.northwind.quotes;

import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;

public final class TaxQuotes {
    /** What every call of a remote service goes through. */
    interface Interceptor {
        <T> T around(String name, Supplier<T> next);
    }

    static final class Chain {
        private final List<Interceptor> interceptors = new ArrayList<>();

        <T> T call(int at, String name, Supplier<T> last) {
            return at == interceptors.size() ? last.get() : interceptors.get(at).around(name, () -> call(at + 1, name, last));
        }
    }

    static final class TaxGateway {
        private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        private final URI base;

        TaxGateway(int port) {
            base = URI.create("http://127.0.0.1:" + port + "/tax/");
        }

        int permille(String country) {
            HttpRequest request = HttpRequest.newBuilder(base.resolve(country)).build();
            return client.sendAsync(request, BodyHandlers.ofString()).thenApply(r -> r.body().length()).join();
        }
    }

    static final class QuoteService {
        private final Chain chain = new Chain();
        private final TaxGateway taxes;

        QuoteService(TaxGateway taxes) {
            this.taxes = taxes;
            for (int i = 0; i < 4; i++) {
                chain.interceptors.add(new Interceptor() {
                    @Override
                    public <T> T around(String name, Supplier<T> next) {
                        return next.get();
                    }
                });
            }
        }

        long quote(long cents, String country) {
            return cents + cents * chain.call(0, "tax", () -> taxes.permille(country)) / 1000;
        }
    }

    public static void main(String[] args) throws Exception {
        Process service = Incident.child(TaxService.class);
        int port = new java.util.Scanner(service.getInputStream()).nextInt();
        QuoteService quotes = new QuoteService(new TaxGateway(port));
        ExecutorService workers = Executors.newFixedThreadPool(6);
        String[] countries = {"de", "fr", "pl", "es"};
        for (int i = 0; i < 6; i++) {
            int first = i;
            workers.submit(() -> {
                for (int n = first; ; n++) {
                    quotes.quote(n * 100L, countries[n % 4]);
                }
            });
        }
        Thread.sleep(2000);
        Incident.readyUntilTheEnd();
    }

    static final class TaxService {
        public static void main(String[] args) throws Exception {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
            server.createContext("/", exchange -> {
                Incident.sleep(600);
                exchange.sendResponseHeaders(200, 3);
                exchange.getResponseBody().write("190".getBytes());
                exchange.close();
            });
            server.setExecutor(Executors.newCachedThreadPool());
            server.start();
            Incident.readyAsChild(server.getAddress().getPort());
            Incident.untilStdinEnds();
        }
    }
}
