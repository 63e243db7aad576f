/*
 * incident: The price server does not listen any more; each of 40 requests a second catches the ConnectException and answers with the price of yesterday.
 * names: exception-rate|exceptions ConnectException
 * jfr: jdk.JavaExceptionThrow PriceClient
 */
package exceptions;

import incidents.Incident;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

public final class PricesGoneStale {
    /** Asks for prices, and remembers the last one. */
    static final class PriceClient {
        private final int port;
        private final int last = 1999;

        PriceClient(int port) {
            this.port = port;
        }

        int price() {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                return socket.getInputStream().read();
            } catch (IOException e) {
                return last;
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    public static void main(String[] args) throws Exception {
        PriceClient client = new PriceClient(freePort());
        AtomicLong sum = new AtomicLong();
        ScheduledExecutorService requests = Executors.newScheduledThreadPool(2);
        requests.scheduleAtFixedRate(() -> sum.addAndGet(client.price()), 0, 25, TimeUnit.MILLISECONDS);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
