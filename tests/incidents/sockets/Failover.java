/*
 * incident: The server that clients connect to accepts nobody any more, its backlog is full, and each attempt hangs until its time limit.
 * names: slow-peer Failover.connect
 * jfr: none
 */
package sockets;

import incidents.Incident;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

public final class Failover {
    private final SocketAddress primary;
    private final AtomicLong failed = new AtomicLong();

    Failover(SocketAddress primary) {
        this.primary = primary;
    }

    private Socket connect(int timeoutMs) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(primary, timeoutMs);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /** Would write to the primary, if it could. */
    private void store(byte[] record) {
        try (Socket socket = connect(20_000)) {
            socket.getOutputStream().write(record);
        } catch (IOException e) {
            failed.incrementAndGet();
        }
    }

    /** Nobody accepts here. */
    private static ServerSocket deadPrimary() throws IOException {
        return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    /** Takes the places in the backlog. */
    private static List<SocketChannel> crowd(SocketAddress address) throws IOException {
        List<SocketChannel> crowd = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            SocketChannel channel = SocketChannel.open();
            channel.configureBlocking(false);
            channel.connect(address);
            crowd.add(channel);
        }
        return crowd;
    }

    public static void main(String[] args) throws Exception {
        ServerSocket dead = deadPrimary();
        List<SocketChannel> crowd = crowd(dead.getLocalSocketAddress());
        Failover failover = new Failover(dead.getLocalSocketAddress());
        ScheduledExecutorService writers = Executors.newScheduledThreadPool(5);
        for (int i = 0; i < 5; i++) {
            byte[] record = ("record " + i).getBytes(StandardCharsets.UTF_8);
            writers.scheduleWithFixedDelay(() -> failover.store(record), 300, 10, TimeUnit.MILLISECONDS);
        }
        Timer report = new Timer("report", true);
        report.schedule(new TimerTask() {
            @Override
            public void run() {
                if (failover.failed.get() > crowd.size() * 1000L || !dead.isBound()) {
                    System.err.println("primary is down");
                }
            }
        }, 1000, 1000);
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
