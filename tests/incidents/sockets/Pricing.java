/*
 * incident: Every quote asks the pricing service over a socket, and that one takes 400 ms for each answer.
 * names: slow-peer PricingClient.ask
 * jfr: jdk.SocketRead PricingClient.ask
 */
package sockets;

import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

public final class Pricing {
    /** One connection to the pricing service. */
    static final class PricingClient implements AutoCloseable {
        private final Socket socket;
        private final BufferedReader in;
        private final PrintWriter out;

        PricingClient(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            out = new PrintWriter(socket.getOutputStream(), true, StandardCharsets.UTF_8);
        }

        long ask(String article) throws IOException {
            out.println(article);
            return Long.parseLong(in.readLine());
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static void serveShop(int port) {
        try (PricingClient client = new PricingClient(port)) {
            while (true) {
                quote(client, "A-" + ThreadLocalRandom.current().nextInt(9000));
            }
        } catch (IOException e) {
            System.err.println("no prices: " + e);
        }
    }

    private static String quote(PricingClient client, String article) throws IOException {
        long cents = client.ask(article);
        return article + ": " + cents / 100 + "." + cents % 100;
    }

    /** The pricing service, a process of its own. */
    static final class Service {
        public static void main(String[] args) throws IOException {
            ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Incident.readyAsChild(server.getLocalPort());
            while (true) {
                Socket client = server.accept();
                new Thread(() -> answer(client)).start();
            }
        }

        private static void answer(Socket client) {
            try (BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()));
                    PrintWriter out = new PrintWriter(client.getOutputStream(), true)) {
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    Thread.sleep(400);
                    out.println(100 + line.hashCode() % 100);
                }
            } catch (IOException | InterruptedException e) {
                // The shop has gone.
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Process service = Incident.child(Service.class);
        BufferedReader said = new BufferedReader(new InputStreamReader(service.getInputStream()));
        int port = Integer.parseInt(said.readLine());
        ExecutorService shop = Executors.newFixedThreadPool(8);
        for (int i = 0; i < 8; i++) {
            shop.execute(() -> serveShop(port));
        }
        ExecutorService idle = Executors.newCachedThreadPool();
        idle.submit(() -> "warm");
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
