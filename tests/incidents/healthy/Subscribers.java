/*
 * healthy: Four subscribers keep connections to a broker open and wait for events, of which one comes every other second: nobody waits for an answer.
 */
package healthy;

import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

public final class Subscribers {
    private final ConcurrentMap<String, Integer> events = new ConcurrentHashMap<>();

    private void subscribe(int port, String topic) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            OutputStream out = socket.getOutputStream();
            out.write((topic + "\n").getBytes(StandardCharsets.US_ASCII));
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            for (String event = in.readLine(); event != null; event = in.readLine()) {
                events.merge(event, 1, Integer::sum);
            }
        } catch (IOException e) {
            System.err.println(topic + ": " + e);
        }
    }

    /** Runs elsewhere. */
    static final class Broker {
        public static void main(String[] args) throws IOException {
            ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Incident.readyAsChild(server.getLocalPort());
            while (true) {
                Socket subscriber = server.accept();
                new Thread(() -> publish(subscriber)).start();
            }
        }

        private static void publish(Socket subscriber) {
            try (PrintWriter out = new PrintWriter(subscriber.getOutputStream(), true);
                    BufferedReader in = new BufferedReader(new InputStreamReader(subscriber.getInputStream()))) {
                String topic = in.readLine();
                for (int i = 0; !out.checkError(); i++) {
                    out.println(topic + " " + i);
                    Thread.sleep(2000);
                }
            } catch (IOException | InterruptedException e) {
                // The subscriber has gone.
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Process broker = Incident.child(Broker.class);
        BufferedReader said = new BufferedReader(new InputStreamReader(broker.getInputStream()));
        int port = Integer.parseInt(said.readLine());
        Subscribers subscribers = new Subscribers();
        for (String topic : List.of("orders", "prices", "stock", "returns")) {
            new Thread(() -> subscribers.subscribe(port, topic), "subscriber-" + topic).start();
        }
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
