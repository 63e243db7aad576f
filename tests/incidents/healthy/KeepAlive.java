/*
 * healthy: A server keeps twelve connections open; its threads read from sockets whose clients have nothing to say for now.
 */
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

public final class KeepAlive {
    private static final int CLIENTS = 12;

    private static void accept(ServerSocket server) {
        try {
            for (int i = 0; ; i++) {
                Socket socket = server.accept();
                new Thread(() -> echo(socket), "connection-" + i).start();
            }
        } catch (IOException e) {
            System.err.println("no more clients: " + e);
        }
    }

    private static void echo(Socket socket) {
        try (InputStream in = socket.getInputStream(); OutputStream out = socket.getOutputStream()) {
            for (int next = in.read(); next >= 0; next = in.read()) {
                out.write(next);
            }
        } catch (IOException e) {
            // The client has gone.
        }
    }

    private static void ping(Socket socket) throws IOException {
        socket.getOutputStream().write('!');
        if (socket.getInputStream().read() != '!') {
            throw new IOException("no echo");
        }
    }

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        new Thread(() -> accept(server), "acceptor").start();
        List<Socket> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort()));
            ping(clients.get(i));
        }
        Thread.sleep(300);
        Incident.ready();
        for (int i = 0; ; i++) {
            Thread.sleep(3000);
            ping(clients.get(i % CLIENTS));
        }
    }
}
