import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * A virtual thread that reads from a socket at which nothing comes: it has left its carrier, and the JVM waits for it with {@code epoll}.
 * Run it on 21 and later.
 */
public final class Reads {
    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket other = server.accept()) {
            Thread reader = (Thread) Thread.class
                    .getMethod("startVirtualThread", Runnable.class)
                    .invoke(null, (Runnable) () -> read(client));
            while (reader.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            System.out.println("READY");
            while (in.readLine() != null) {
                System.out.println("DONE reads=" + (reader.isAlive() && !other.isClosed() ? 1 : 0));
            }
        }
        System.exit(0);
    }

    private static void read(Socket from) {
        try {
            from.getInputStream().read();
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
