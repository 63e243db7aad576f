/*
 * incident: Two hundred virtual threads wait for the stock service, which answers each of them only after two seconds.
 * names: slow-peer StockClient.stock
 * needs: 21
 * jfr: jdk.SocketRead StockClient.stock
 */
package virtual;

import incidents.Incident;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

public final class StockCalls {
    static final class StockClient {
        private final int port;

        StockClient(int port) {
            this.port = port;
        }

        int stock(int article) throws IOException {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                new DataOutputStream(socket.getOutputStream()).writeInt(article);
                return new DataInputStream(socket.getInputStream()).readInt();
            }
        }
    }

    private static void sell(StockClient client, int article) {
        while (true) {
            try {
                client.stock(article);
            } catch (IOException e) {
                LockSupport.parkNanos(500_000_000);
            }
        }
    }

    /** The service, in a process of its own. */
    static final class Service {
        public static void main(String[] args) throws IOException {
            ServerSocket server = new ServerSocket(0, 500, InetAddress.getLoopbackAddress());
            ScheduledExecutorService later = Executors.newScheduledThreadPool(4);
            Incident.readyAsChild(server.getLocalPort());
            while (true) {
                Socket client = server.accept();
                later.schedule(() -> answer(client), 2, TimeUnit.SECONDS);
            }
        }

        private static void answer(Socket client) {
            try (client) {
                int article = new DataInputStream(client.getInputStream()).readInt();
                new DataOutputStream(client.getOutputStream()).writeInt(article % 40);
            } catch (IOException e) {
                // The shop has gone.
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Process service = Incident.child(Service.class);
        BufferedReader said = new BufferedReader(new InputStreamReader(service.getInputStream()));
        StockClient client = new StockClient(Integer.parseInt(said.readLine()));
        ExecutorService shop = Incident.virtualExecutor();
        for (int i = 0; i < 200; i++) {
            int article = i;
            shop.execute(() -> sell(client, article));
        }
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
