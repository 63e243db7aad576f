/*
 * incident: Numbers come by UDP faster than the one thread books them, so the kernel throws most of them away.
 * names: dropped-datagrams MetricsFlood.book
 * jfr: none
 */
package com.acme.metrics;

import incidents.Incident;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;

public final class MetricsFlood {
    private final Map<Integer, Integer> sums = new HashMap<>();
    private final DatagramSocket socket;

    private MetricsFlood(DatagramSocket socket) {
        this.socket = socket;
    }

    private void book(DatagramPacket packet) throws InterruptedException {
        // As a call of a store would take.
        Thread.sleep(3);
        sums.merge(packet.getLength(), 1, Integer::sum);
    }

    private void read() {
        DatagramPacket packet = new DatagramPacket(new byte[1024], 1024);
        try {
            while (true) {
                socket.receive(packet);
                book(packet);
            }
        } catch (IOException | InterruptedException e) {
            System.err.println("no more numbers: " + e);
        }
    }

    private static void send(SocketAddress to) {
        byte[] bytes = new byte[900];
        try (DatagramSocket from = new DatagramSocket()) {
            while (true) {
                for (int i = 0; i < 20; i++) {
                    from.send(new DatagramPacket(bytes, bytes.length, to));
                }
                Thread.sleep(10);
            }
        } catch (IOException | InterruptedException e) {
            System.err.println("nothing is sent any more: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        MetricsFlood flood = new MetricsFlood(new DatagramSocket(0, InetAddress.getLoopbackAddress()));
        Incident.start("metrics", flood::read);
        SocketAddress to = flood.socket.getLocalSocketAddress();
        Incident.start("agents", () -> send(to));
        Incident.readyUntilTheEnd();
    }
}
