/*
 * incident: The refresh of exchange rates reads from the bank's slow socket while it holds the monitor that all conversions need.
 * names: lock-contention|lock-chain Rates.refresh
 * jfr: jdk.JavaMonitorEnter Rates.
 */
package locks;

import incidents.Incident;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class MonitorOverIo {
    static final class Rates {
        private final Map<String, Double> byCurrency = new HashMap<>();
        private final DataInputStream in;
        private final DataOutputStream out;

        Rates(Socket bank) throws IOException {
            in = new DataInputStream(bank.getInputStream());
            out = new DataOutputStream(bank.getOutputStream());
        }

        void refresh(String currency) throws IOException {
            synchronized (byCurrency) {
                out.writeUTF(currency);
                byCurrency.put(currency, in.readDouble());
            }
        }

        double convert(String currency, double amount) {
            synchronized (byCurrency) {
                return amount * byCurrency.getOrDefault(currency, 1.0);
            }
        }
    }

    /** The bank answers after a quarter of a second. */
    private static void serve(ServerSocket server) {
        try (Socket client = server.accept(); DataInputStream in = new DataInputStream(client.getInputStream())) {
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            while (true) {
                String currency = in.readUTF();
                Thread.sleep(250);
                out.writeDouble(currency.length() * 0.37);
            }
        } catch (IOException | InterruptedException e) {
            System.err.println("bank: " + e);
        }
    }

    private static void convertForEver(Rates rates) throws InterruptedException {
        double sum = 0;
        while (sum >= 0) {
            sum += rates.convert("USD", 12.5);
            Thread.sleep(10);
        }
    }

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        ExecutorService threads = Executors.newCachedThreadPool();
        threads.execute(() -> serve(server));
        Rates rates = new Rates(new Socket(server.getInetAddress(), server.getLocalPort()));
        threads.submit(() -> {
            while (true) {
                rates.refresh("USD");
                Thread.sleep(5);
            }
        });
        for (int i = 0; i < 6; i++) {
            threads.submit(() -> {
                convertForEver(rates);
                return null;
            });
        }
        Thread.sleep(700);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
