/*
 * incident: Each write waits for the acknowledgement of a replica over a SocketChannel, and the replica is half a second behind.
 * names: slow-peer Replica.awaitAcknowledgement
 * jfr: jdk.SocketRead Replica.awaitAcknowledgement
 */
package sockets;

import incidents.Incident;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

public final class Replication {
    static final class Replica {
        private final SocketChannel channel;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(16);

        Replica(SocketAddress address) throws IOException {
            channel = SocketChannel.open(address);
        }

        private void send(long position) throws IOException {
            buffer.clear();
            buffer.putLong(position).flip();
            channel.write(buffer);
        }

        private long awaitAcknowledgement() throws IOException {
            buffer.clear().limit(Long.BYTES);
            while (buffer.hasRemaining()) {
                if (channel.read(buffer) < 0) {
                    throw new EOFException("replica is gone");
                }
            }
            return buffer.flip().getLong();
        }
    }

    private final List<Replica> replicas = new ArrayList<>();

    private long append(int shard, long position) throws IOException {
        Replica replica = replicas.get(shard);
        replica.send(position);
        return replica.awaitAcknowledgement();
    }

    private void write(int shard) {
        try {
            for (long position = 0; append(shard, position) == position; position++) {
                Thread.yield();
            }
        } catch (IOException e) {
            System.err.println("shard " + shard + ": " + e);
        }
    }

    /** Runs elsewhere; one thread for each connection. */
    static final class Follower {
        public static void main(String[] args) throws IOException {
            ServerSocketChannel server = ServerSocketChannel.open();
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Incident.readyAsChild(server.socket().getLocalPort());
            while (true) {
                SocketChannel leader = server.accept();
                new Thread(() -> follow(leader)).start();
            }
        }

        private static void follow(SocketChannel leader) {
            ByteBuffer position = ByteBuffer.allocate(Long.BYTES);
            try {
                while (leader.read(position) >= 0) {
                    if (!position.hasRemaining()) {
                        LockSupport.parkNanos(500_000_000);
                        leader.write(position.flip());
                        position.clear();
                    }
                }
            } catch (IOException e) {
                // The leader has gone.
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Process follower = Incident.child(Follower.class);
        BufferedReader said = new BufferedReader(new InputStreamReader(follower.getInputStream()));
        SocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(said.readLine()));
        Replication replication = new Replication();
        for (int i = 0; i < 4; i++) {
            replication.replicas.add(new Replica(address));
            int shard = i;
            new Thread(() -> replication.write(shard), "shard-" + i).start();
        }
        Thread.sleep(600);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
