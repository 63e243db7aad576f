/*
 * incident: One thread accepts orders and books each itself, by a slow ledger in another process; the door is full, and callers get no answer.
 * names: not-accepted|slow-peer SingleClerk.book
 * jfr: jdk.SocketRead SingleClerk.book
 */
package com.acme.orders;

import incidents.Incident;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Scanner;

public final class SingleClerk {
    private final int ledger;

    SingleClerk(int ledger) {
        this.ledger = ledger;
    }

    void serve(ServerSocket door) {
        while (true) {
            try (Socket caller = door.accept()) {
                caller.getOutputStream().write(book());
            } catch (IOException e) {
                // A caller that has gone is none.
            }
        }
    }

    private int book() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), ledger)) {
            return socket.getInputStream().read();
        }
    }

    public static void main(String[] args) throws Exception {
        Process ledger = Incident.child(Ledger.class);
        SingleClerk clerk = new SingleClerk(new Scanner(ledger.getInputStream()).nextInt());
        ServerSocket door = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        Incident.start("clerk", () -> clerk.serve(door));
        Incident.child(Callers.class, door.getLocalPort());
        Thread.sleep(1500);
        Incident.readyUntilTheEnd();
    }

    static final class Ledger {
        public static void main(String[] args) throws Exception {
            ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Incident.readyAsChild(server.getLocalPort());
            while (true) {
                try (Socket socket = server.accept()) {
                    Thread.sleep(700);
                    socket.getOutputStream().write(1);
                }
            }
        }
    }

    static final class Callers {
        public static void main(String[] args) throws Exception {
            int port = Integer.parseInt(args[0]);
            for (int i = 0; i < 24; i++) {
                Incident.start("caller-" + i, () -> call(port));
            }
            Incident.readyAsChild("calling");
            Incident.untilStdinEnds();
        }

        private static void call(int port) {
            while (true) {
                try (Socket socket = new Socket()) {
                    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 20_000);
                    socket.setSoTimeout(20_000);
                    socket.getInputStream().read();
                } catch (IOException e) {
                    // It tries again.
                }
            }
        }
    }
}
