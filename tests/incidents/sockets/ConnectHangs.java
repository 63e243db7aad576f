/*
 * incident: Four threads hang in connecting to a server that does not accept any more and whose backlog is full.
 * names: slow-peer Dialer.dial
 * jfr: none
 */
package sockets;

import incidents.Incident;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class ConnectHangs {
    static final class Dialer implements Runnable {
        private final InetAddress host;
        private final int port;
        private int failures;

        Dialer(InetAddress host, int port) {
            this.host = host;
            this.port = port;
        }

        @Override
        public void run() {
            while (!Thread.currentThread().isInterrupted()) {
                try (Socket socket = dial()) {
                    socket.getOutputStream().write('?');
                } catch (IOException e) {
                    failures++;
                }
            }
        }

        private Socket dial() throws IOException {
            return new Socket(host, port);
        }
    }

    /** Connections that nobody takes out of the backlog. */
    private static List<SocketChannel> fill(ServerSocket server) throws IOException {
        List<SocketChannel> pending = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            SocketChannel channel = SocketChannel.open();
            channel.configureBlocking(false);
            channel.connect(new InetSocketAddress(server.getInetAddress(), server.getLocalPort()));
            pending.add(channel);
        }
        return pending;
    }

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        List<SocketChannel> pending = fill(server);
        Thread.sleep(300);
        for (int i = 0; i < 4; i++) {
            new Thread(new Dialer(server.getInetAddress(), server.getLocalPort()), "dialer-" + i).start();
        }
        ScheduledExecutorService watch = Executors.newScheduledThreadPool(1);
        watch.scheduleAtFixedRate(() -> pending.removeIf(channel -> !channel.isOpen()), 1, 1, TimeUnit.SECONDS);
        Thread.sleep(400);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
