/*
 * incident: A parallel stream asks a stock service for each article, so the common pool of the whole JVM waits for that service.
 * names: slow-peer|starved-pool StockRemote.|Availability.
 * jfr: jdk.SocketRead StockRemote
 */
package com.acme.stock;

import incidents.Incident;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

public final class BlockedCommonPool {
    static final class StockRemote {
        private static final ThreadLocal<Socket> SOCKETS = new ThreadLocal<>();
        private final int port;

        StockRemote(int port) {
            this.port = port;
        }

        int level(int article) {
            try {
                Socket socket = SOCKETS.get();
                if (socket == null) {
                    socket = new Socket(InetAddress.getLoopbackAddress(), port);
                    SOCKETS.set(socket);
                }
                new DataOutputStream(socket.getOutputStream()).writeInt(article);
                return new DataInputStream(socket.getInputStream()).readInt();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static final class Availability {
        private final StockRemote remote;

        Availability(StockRemote remote) {
            this.remote = remote;
        }

        int of(int page) {
            return IntStream.range(page * 20, page * 20 + 20).parallel().map(remote::level).sum();
        }
    }

    public static void main(String[] args) throws Exception {
        Process service = Incident.child(Stock.class);
        Availability availability = new Availability(new StockRemote(new java.util.Scanner(service.getInputStream()).nextInt()));
        Incident.start("shop", () -> {
            for (int page = 0; ; page++) {
                availability.of(page % 100);
            }
        });
        // What else uses the pool.
        Incident.start("mailer", () -> {
            while (true) {
                CompletableFuture.supplyAsync(() -> "sent").join();
                Incident.sleep(10);
            }
        });
        Thread.sleep(1000);
        Incident.readyUntilTheEnd();
    }

    static final class Stock {
        public static void main(String[] args) throws Exception {
            ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Incident.readyAsChild(server.getLocalPort());
            while (true) {
                Socket socket = server.accept();
                Incident.start("answers", () -> {
                    try (socket) {
                        DataInputStream in = new DataInputStream(socket.getInputStream());
                        while (true) {
                            int article = in.readInt();
                            Incident.sleep(300);
                            new DataOutputStream(socket.getOutputStream()).writeInt(article % 9);
                        }
                    } catch (IOException e) {
                        // It went away.
                    }
                });
            }
        }
    }
}
