/*
 * incident: Six workers wait 250 ms for each answer of the address service, and the dispatcher starts a thread for each event.
 * names: slow-peer AddressClient.lookUp
 * names: thread-churn Dispatcher.dispatch
 * jfr: jdk.SocketRead AddressClient.lookUp
 */
package pairs;

import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

public final class DownstreamAndChurn {
    static final class AddressClient {
        private final BufferedReader in;
        private final OutputStream out;

        AddressClient(int port) throws IOException {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            out = socket.getOutputStream();
        }

        String lookUp(String name) throws IOException {
            out.write((name + "\n").getBytes(StandardCharsets.UTF_8));
            return in.readLine();
        }
    }

    static final class Dispatcher {
        private final AtomicInteger handled = new AtomicInteger();

        void dispatchForEver() {
            try {
                for (int event = 0; ; event++) {
                    dispatch(event);
                    Thread.sleep(15);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void dispatch(int event) {
            new Thread(handled::incrementAndGet, "event-" + event).start();
        }
    }

    /** The address service, another process. */
    static final class Service {
        public static void main(String[] args) throws IOException {
            ServerSocket server = new ServerSocket(0, 20, InetAddress.getLoopbackAddress());
            Incident.readyAsChild(server.getLocalPort());
            while (true) {
                Socket client = server.accept();
                new Thread(() -> answer(client)).start();
            }
        }

        private static void answer(Socket client) {
            try (BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()))) {
                for (String name = in.readLine(); name != null; name = in.readLine()) {
                    Thread.sleep(250);
                    client.getOutputStream().write((name + ", 1 Main Street\n").getBytes(StandardCharsets.UTF_8));
                }
            } catch (IOException | InterruptedException e) {
                // The caller has gone.
            }
        }
    }

    private static void print(AddressClient client, int worker) {
        try {
            String address = "";
            for (int i = 0; address != null; i++) {
                address = client.lookUp("customer " + worker + "." + i);
            }
        } catch (IOException e) {
            System.err.println("addresses: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        Process service = Incident.child(Service.class);
        int port = Integer.parseInt(new BufferedReader(new InputStreamReader(service.getInputStream())).readLine());
        for (int i = 0; i < 6; i++) {
            int worker = i;
            AddressClient client = new AddressClient(port);
            new Thread(() -> print(client, worker), "labels-" + worker).start();
        }
        new Thread(new Dispatcher()::dispatchForEver, "dispatcher").start();
        Thread.sleep(600);
        Incident.ready();
    }
}
