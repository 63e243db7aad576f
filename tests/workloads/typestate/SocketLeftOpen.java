import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Connections within this program whose both ends are closed, and some of which the connecting end is not. */
public final class SocketLeftOpen {
    private SocketLeftOpen() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "SocketLeftOpen", SocketLeftOpen::good, SocketLeftOpen::bad);
    }

    private static void good(Protocol protocol) throws IOException {
        try (ServerSocket server = new ServerSocket(0, Protocol.OBJECTS, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < Protocol.OBJECTS; i++) {
                connected(server).close();
                // One that is never connected need not be closed.
                new Socket();
            }
        }
    }

    private static void bad(Protocol protocol) throws IOException {
        try (ServerSocket server = new ServerSocket(0, Protocol.OBJECTS, InetAddress.getLoopbackAddress())) {
            for (int i = 0; i < Protocol.OBJECTS; i++) {
                Socket socket = i % 2 == 0 ? connected(server) : new Socket();
                if (i % 2 == 1) {
                    socket.connect(server.getLocalSocketAddress());
                    server.accept().close();
                }
                protocol.dead(1);
            }
        }
    }

    private static Socket connected(ServerSocket server) throws IOException {
        Socket socket = new Socket(server.getInetAddress(), server.getLocalPort());
        server.accept().close();
        return socket;
    }
}
