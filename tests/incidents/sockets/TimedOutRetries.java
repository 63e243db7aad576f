/*
 * incident: A rating service answers later than the time limit of 250 ms, and each request tries it again and again.
 * names: slow-peer|exception-rate|exceptions RatingClient.|SocketTimeoutException
 * jfr: jdk.SocketRead RatingClient
 */
package com.acme.rating;

import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;

public final class TimedOutRetries {
    static final class RatingClient {
        private final int port;

        RatingClient(int port) {
            this.port = port;
        }

        int rate(int customer) throws IOException {
            for (int tries = 0; tries < 10; tries++) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    socket.setSoTimeout(250);
                    socket.getOutputStream().write(customer);
                    InputStream in = socket.getInputStream();
                    return in.read();
                } catch (SocketTimeoutException e) {
                    // Once more.
                }
            }
            return -1;
        }
    }

    public static void main(String[] args) throws Exception {
        ServerSocket service = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        RatingClient client = new RatingClient(service.getLocalPort());
        Incident.start("service", () -> {
            java.util.ArrayDeque<Socket> open = new java.util.ArrayDeque<>();
            try {
                while (true) {
                    open.add(service.accept());
                    if (open.size() > 50) {
                        open.remove().close();
                    }
                }
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
        ForkJoinPool pool = new ForkJoinPool(5);
        for (int i = 0; i < 5; i++) {
            int number = i;
            pool.execute(ForkJoinTask.adapt(() -> {
                for (int customer = number; ; customer++) {
                    client.rate(customer & 127);
                }
            }));
        }
        Thread.sleep(700);
        Incident.readyUntilTheEnd();
    }
}
