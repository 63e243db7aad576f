/*
 * incident: A data source logs in anew for each connection, within its synchronized getConnection, and the database answers after 150 ms.
 * names: lock-contention|lock-chain|slow-peer RoutingDataSource.|Session.
 * jfr: jdk.JavaMonitorEnter getConnection
 */
package com.acme.persistence;

import incidents.Incident;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.stream.IntStream;

public final class GuardedDataSource {
    static final class Session implements AutoCloseable {
        private final Socket socket;

        Session(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            new DataInputStream(socket.getInputStream()).readInt();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    static final class RoutingDataSource {
        private final int port;

        RoutingDataSource(int port) {
            this.port = port;
        }

        synchronized Session getConnection() {
            try {
                return new Session(port);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static final class Template {
        private final RoutingDataSource source;

        Template(RoutingDataSource source) {
            this.source = source;
        }

        void inTransaction(Runnable work) {
            try (Session session = source.getConnection()) {
                work.run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Process database = Incident.child(Database.class);
        int port = new java.util.Scanner(database.getInputStream()).nextInt();
        Template template = new Template(new RoutingDataSource(port));
        IntStream.range(0, 7).forEach(i -> Incident.start("tx-" + i, () -> {
            while (true) {
                template.inTransaction(() -> Incident.sleep(1));
            }
        }));
        Thread.sleep(700);
        Incident.readyUntilTheEnd();
    }

    static final class Database {
        public static void main(String[] args) throws Exception {
            ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Incident.readyAsChild(server.getLocalPort());
            while (true) {
                try (Socket socket = server.accept()) {
                    Thread.sleep(150);
                    socket.getOutputStream().write(new byte[4]);
                }
            }
        }
    }
}
