/*
 * incident: A probe connects to the service each time and forgets the connection when the answer was good.
 * names: open-descriptors sockets|TCP
 * jfr: none
 */
package sockets;

import incidents.Incident;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class HealthProbe {
    private final InetAddress address;
    private final int port;
    private final Deque<Socket> good = new ArrayDeque<>();

    private HealthProbe(InetAddress address, int port) {
        this.address = address;
        this.port = port;
    }

    private void probe() {
        try {
            Socket socket = new Socket(address, port);
            if (socket.getInputStream().read() == 'u') {
                good.add(socket);
            } else {
                socket.close();
            }
        } catch (IOException e) {
            // It is down, which others tell.
        }
    }

    private static void serve(ServerSocket server) {
        while (true) {
            try {
                Socket client = server.accept();
                client.getOutputStream().write('u');
                client.shutdownOutput();
            } catch (IOException e) {
                return;
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread service = new Thread(() -> serve(server), "service");
        service.setDaemon(true);
        service.start();
        HealthProbe probe = new HealthProbe(server.getInetAddress(), server.getLocalPort());
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        timer.scheduleAtFixedRate(probe::probe, 0, 25, TimeUnit.MILLISECONDS);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
