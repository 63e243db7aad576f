/*
 * incident: A server admits 20 guests at most and guests stay connected, so the thread that accepts waits for a permit and others wait at the door.
 * names: not-accepted Turnstile.admit
 * jfr: jdk.ThreadPark Turnstile.admit
 */
package com.acme.stadium;

import incidents.Incident;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

public final class Turnstile {
    private final Semaphore seats = new Semaphore(20);
    private final ServerSocket door;

    Turnstile(ServerSocket door) {
        this.door = door;
    }

    void admit() {
        while (true) {
            seats.acquireUninterruptibly();
            try {
                Socket guest = door.accept();
                Incident.start("guest", () -> serve(guest));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private void serve(Socket guest) {
        try (Socket closed = guest) {
            while (closed.getInputStream().read() >= 0) {
                closed.getOutputStream().write('.');
            }
        } catch (IOException e) {
            // A guest that has gone is none.
        } finally {
            seats.release();
        }
    }

    public static void main(String[] args) throws Exception {
        ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Incident.start("turnstile", () -> new Turnstile(door).admit());
        Incident.child(Guests.class, door.getLocalPort());
        Thread.sleep(500);
        Incident.readyUntilTheEnd();
    }

    static final class Guests {
        public static void main(String[] args) throws Exception {
            List<Socket> all = new ArrayList<>();
            for (int i = 0; i < 45; i++) {
                all.add(new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])));
            }
            Incident.readyAsChild(all.size());
            Incident.untilStdinEnds();
        }
    }
}
