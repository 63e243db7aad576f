/*
 * incident: Eight request threads each ask the stock service over a socket, which answers only after 200 ms.
 * names: slow-peer StockLink.level
 * jfr: jdk.SocketRead StockLink.level
 */
package sockets;

import incidents.Incident;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class SlowDownstream {
    static final class StockLink implements Closeable {
        private final Socket socket = new Socket();
        private final DataInputStream in;
        private final DataOutputStream out;

        StockLink(InetSocketAddress address) throws IOException {
            socket.setTcpNoDelay(true);
            socket.connect(address, 2000);
            in = new DataInputStream(socket.getInputStream());
            out = new DataOutputStream(socket.getOutputStream());
        }

        int level(int article) throws IOException {
            out.writeInt(article);
            return in.readInt();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    /** The service is a part of this program, on threads of its own. */
    static final class StockServer {
        private final ServerSocket server = new ServerSocket(0, 20, InetAddress.getLoopbackAddress());
        private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
            Thread thread = new Thread(task, "stock-server");
            thread.setDaemon(true);
            return thread;
        });

        StockServer() throws IOException {
            threads.submit(() -> {
                while (true) {
                    Socket client = server.accept();
                    threads.submit(() -> answer(client));
                }
            });
        }

        private Void answer(Socket client) throws IOException, InterruptedException {
            DataInputStream in = new DataInputStream(client.getInputStream());
            DataOutputStream out = new DataOutputStream(client.getOutputStream());
            while (true) {
                int article = in.readInt();
                Thread.sleep(200);
                out.writeInt(article % 17);
            }
        }
    }

    private static void serve(InetSocketAddress stock, int first) {
        try (StockLink link = new StockLink(stock)) {
            for (int article = first; link.level(article) >= 0; article++) {
                Thread.sleep(1);
            }
        } catch (IOException | InterruptedException e) {
            System.err.println("no stock: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        StockServer server = new StockServer();
        InetSocketAddress address = new InetSocketAddress(server.server.getInetAddress(), server.server.getLocalPort());
        for (int i = 0; i < 8; i++) {
            int first = i * 100;
            new Thread(() -> serve(address, first), "request-" + i).start();
        }
        Thread.sleep(500);
        Incident.ready();
    }
}
