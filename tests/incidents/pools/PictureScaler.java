/*
 * incident: Pictures are scaled by a slow converter, asked from a work-stealing pool of two, and more uploads come than it gets done.
 * names: executor-backlog|slow-peer PictureScaler.
 * jfr: jdk.SocketRead PictureScaler
 */
package com.acme.gallery;

import incidents.Incident;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Scanner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class PictureScaler {
    private final ExecutorService pool = Executors.newWorkStealingPool(2);
    private final int port;

    PictureScaler(int port) {
        this.port = port;
    }

    CompletableFuture<Integer> upload(int picture) {
        return CompletableFuture.supplyAsync(() -> scaled(picture), pool);
    }

    private int scaled(int picture) {
        try (Socket converter = new Socket(InetAddress.getLoopbackAddress(), port)) {
            new DataOutputStream(converter.getOutputStream()).writeInt(picture);
            return new DataInputStream(converter.getInputStream()).readInt();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Process converter = Incident.child(Converter.class);
        PictureScaler scaler = new PictureScaler(new Scanner(converter.getInputStream()).nextInt());
        Incident.start("uploads", () -> {
            for (int picture = 0; ; picture++) {
                scaler.upload(picture);
                Incident.sleep(50);
            }
        });
        Thread.sleep(1000);
        Incident.readyUntilTheEnd();
    }

    static final class Converter {
        public static void main(String[] args) throws Exception {
            ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Incident.readyAsChild(server.getLocalPort());
            while (true) {
                Socket socket = server.accept();
                Incident.start("converts", () -> {
                    try (socket) {
                        int picture = new DataInputStream(socket.getInputStream()).readInt();
                        Incident.sleep(250);
                        new DataOutputStream(socket.getOutputStream()).writeInt(picture % 9);
                    } catch (IOException e) {
                        // It went away.
                    }
                });
            }
        }
    }
}
