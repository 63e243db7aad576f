/*
 * healthy: Other nodes say by UDP that they are alive; now and then a burst of them is longer than the buffer, long before anybody looks.
 */
package com.acme.heartbeats;

import incidents.Incident;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.util.concurrent.atomic.LongAdder;

public final class Heartbeats {
    private final LongAdder alive = new LongAdder();
    private final DatagramSocket socket;

    private Heartbeats(DatagramSocket socket) {
        this.socket = socket;
    }

    private void read() {
        DatagramPacket packet = new DatagramPacket(new byte[64], 64);
        try {
            while (true) {
                socket.receive(packet);
                alive.increment();
            }
        } catch (IOException e) {
            System.err.println("no more heartbeats: " + e);
        }
    }

    private void send(int datagrams) throws IOException {
        try (DatagramSocket from = new DatagramSocket()) {
            byte[] bytes = new byte[32];
            for (int i = 0; i < datagrams; i++) {
                from.send(new DatagramPacket(bytes, bytes.length, socket.getLocalSocketAddress()));
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Heartbeats heartbeats = new Heartbeats(new DatagramSocket(0, InetAddress.getLoopbackAddress()));
        // Nobody reads yet.
        heartbeats.send(5000);
        Incident.start("heartbeats", heartbeats::read);
        Incident.start("nodes", () -> {
            try {
                while (true) {
                    heartbeats.send(5);
                    Thread.sleep(100);
                }
            } catch (IOException | InterruptedException e) {
                System.err.println("no more nodes: " + e);
            }
        });
        Incident.readyUntilTheEnd();
    }
}
