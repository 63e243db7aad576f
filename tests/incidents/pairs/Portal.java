/*
 * incident: Texts are built by concatenation in a loop, and the single sign-on server needs a second for each ticket.
 * names: string-copies|cpu-hot-line|allocation-rate Portal.join
 * names: slow-peer TicketClient.check
 * load: cpu
 * jfr: jdk.SocketRead TicketClient.check
 */
package pairs;

import com.sun.net.httpserver.HttpServer;
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

public final class Portal {
    static final class TicketClient {
        private final URL url;

        TicketClient(URL url) {
            this.url = url;
        }

        boolean check(String ticket) throws IOException {
            HttpURLConnection connection = (HttpURLConnection) url.openConnection();
            connection.setRequestProperty("Ticket", ticket);
            try (InputStream in = connection.getInputStream()) {
                return in.readAllBytes().length > 0;
            }
        }
    }

    private static String join(List<String> words) {
        String text = "";
        for (String word : words) {
            text += word + ", ";
        }
        return text;
    }

    private static HttpServer signOn() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        server.createContext("/", exchange -> {
            LockSupport.parkNanos(1_000_000_000);
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write(new byte[] {'o', 'k'});
            exchange.close();
        });
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        return server;
    }

    private static void logIn(TicketClient tickets, String user) {
        try {
            for (int i = 0; tickets.check(user + i); i++) {
                Thread.yield();
            }
        } catch (IOException e) {
            System.err.println("sign-on: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        TicketClient tickets = new TicketClient(new URL("http://127.0.0.1:" + signOn().getAddress().getPort() + "/"));
        for (String user : List.of("uma", "vic", "wes", "xia", "yan", "zoe")) {
            new Thread(() -> logIn(tickets, user), "login-" + user).start();
        }
        List<String> words = Collections.nCopies(4000, "newsletter");
        Thread newsletters = new Thread(() -> {
            while (!join(words).isEmpty()) {
                Thread.yield();
            }
        }, "newsletters");
        newsletters.setDaemon(true);
        newsletters.start();
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
