import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;

/** Sockets at which a known number of connections waits, and threads that accept them or do not. */
public class Doors {
    static final CountDownLatch NEVER = new CountDownLatch(1);
    static final List<Socket> GUESTS = new ArrayList<>();

    static ServerSocket door(int limit, int guests) throws IOException {
        ServerSocket door = new ServerSocket(0, limit, InetAddress.getLoopbackAddress());
        for (int i = 0; i < guests; i++) {
            GUESTS.add(new Socket(door.getInetAddress(), door.getLocalPort()));
        }
        return door;
    }

    static void busy() {
        try {
            NEVER.await();
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    static void accept(ServerSocket door) {
        while (true) {
            try {
                GUESTS.add(door.accept());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    static void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    public static void main(String[] args) throws IOException {
        ServerSocket named = door(5, 3);
        ServerSocket full = door(2, 3);
        ServerSocket open = door(5, 0);
        start("shop-" + named.getLocalPort() + "-Acceptor", Doors::busy);
        start("open", () -> accept(open));
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            System.out.println("DONE named=" + named.getLocalPort() + " full=" + full.getLocalPort() + " open=" + open.getLocalPort());
        }
    }
}
