/*
 * incident: A server for prices writes the head of each answer and then its body. The body waits until the head is acknowledged, 40 ms each time.
 * names: nagle Basket.price
 * jfr: jdk.SocketRead Basket.price
 */
package sockets;

import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

public final class HeadAndBody {
    static final class Basket {
        private final Socket prices;
        private final BufferedReader answers;

        Basket(int port) throws IOException {
            prices = new Socket(InetAddress.getLoopbackAddress(), port);
            answers = new BufferedReader(new InputStreamReader(prices.getInputStream(), StandardCharsets.US_ASCII));
        }

        private long price(int article) throws IOException {
            OutputStream out = prices.getOutputStream();
            out.write(("PRICE " + article + "\n").getBytes(StandardCharsets.US_ASCII));
            answers.readLine();
            return Long.parseLong(answers.readLine());
        }

        long sum(int articles) throws IOException {
            long sum = 0;
            for (int i = 0; i < articles; i++) {
                sum += price(i);
            }
            return sum;
        }
    }

    private static void serve(Socket basket) {
        try (Socket open = basket) {
            BufferedReader asked = new BufferedReader(new InputStreamReader(open.getInputStream(), StandardCharsets.US_ASCII));
            OutputStream out = open.getOutputStream();
            for (String line = asked.readLine(); line != null; line = asked.readLine()) {
                out.write("OK 1 line\n".getBytes(StandardCharsets.US_ASCII));
                out.write((line.length() * 99 + "\n").getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException e) {
            System.err.println("a basket has gone: " + e);
        }
    }

    private static void accept(ServerSocket server) {
        try {
            while (true) {
                Socket basket = server.accept();
                Incident.start("prices-of-" + basket.getPort(), () -> serve(basket));
            }
        } catch (IOException e) {
            System.err.println("no more prices: " + e);
        }
    }

    private static void check(Basket basket) {
        try {
            long sum = 0;
            while (sum >= 0) {
                sum = basket.sum(100);
            }
        } catch (IOException e) {
            System.err.println("no prices: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Incident.start("prices", () -> accept(server));
        for (int i = 0; i < 3; i++) {
            Basket basket = new Basket(server.getLocalPort());
            Incident.start("checkout-" + i, () -> check(basket));
        }
        Incident.readyUntilTheEnd();
    }
}
