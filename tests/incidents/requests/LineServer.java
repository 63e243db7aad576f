/*
 * incident: A home-made server runs each connection in a pool of three whose tasks ask a slow back end; accepted connections wait in the queue.
 * names: executor-backlog|slow-peer BackEnd.fetch
 * jfr: jdk.SocketRead BackEnd.fetch
 */
package requests;

import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

public final class LineServer {
    static final class BackEnd {
        private final int port;

        BackEnd(int port) {
            this.port = port;
        }

        int fetch(int key) throws IOException {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.getOutputStream().write(key);
                return socket.getInputStream().read();
            }
        }
    }

    private final ExecutorService workers = Executors.newFixedThreadPool(3);
    private final BackEnd backEnd;

    LineServer(int port) {
        backEnd = new BackEnd(port);
    }

    private void accept(ServerSocket server) {
        try {
            while (true) {
                Socket client = server.accept();
                workers.execute(() -> answer(client));
            }
        } catch (IOException e) {
            System.err.println("server: " + e);
        }
    }

    private void answer(Socket client) {
        try (client) {
            int key = client.getInputStream().read();
            client.getOutputStream().write(backEnd.fetch(key));
        } catch (IOException e) {
            // The client has given up.
        }
    }

    /** What is behind the server, and the clients before it. */
    static final class Around {
        public static void main(String[] args) throws IOException {
            ServerSocket slow = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            ExecutorService threads = Executors.newCachedThreadPool();
            Incident.readyAsChild(slow.getLocalPort());
            while (true) {
                Socket socket = slow.accept();
                threads.execute(() -> delay(socket));
            }
        }

        private static void delay(Socket socket) {
            try (socket) {
                LockSupport.parkNanos(250_000_000);
                socket.getOutputStream().write(socket.getInputStream().read());
            } catch (IOException e) {
                // It has given up.
            }
        }
    }

    private static void ask(BackEnd server) {
        while (true) {
            try {
                server.fetch(7);
            } catch (IOException e) {
                LockSupport.parkNanos(100_000_000);
            }
        }
    }

    /** Ten clients in a process of their own. */
    static final class Crowd {
        public static void main(String[] args) {
            BackEnd server = new BackEnd(Integer.parseInt(args[0]));
            IntStream.range(0, 10).forEach(i -> new Thread(() -> ask(server)).start());
            Incident.readyAsChild("asking");
        }
    }

    public static void main(String[] args) throws Exception {
        Process around = Incident.child(Around.class);
        String port = new BufferedReader(new InputStreamReader(around.getInputStream())).readLine();
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        LineServer lines = new LineServer(Integer.parseInt(port));
        new Thread(() -> lines.accept(server), "acceptor").start();
        Incident.child(Crowd.class, server.getLocalPort());
        Thread.sleep(2500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
