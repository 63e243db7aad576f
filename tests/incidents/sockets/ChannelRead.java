/*
 * incident: The feed handlers read from blocking socket channels, and their exchange sends a message only every half second.
 * names: slow-peer QuoteReader.fill
 * jfr: jdk.SocketRead QuoteReader.fill
 */
package sockets;

import incidents.Incident;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

public final class ChannelRead {
    static final class QuoteReader implements Runnable {
        private static final int MESSAGE = 16;

        private final SocketChannel channel;
        private final ByteBuffer buffer = ByteBuffer.allocateDirect(MESSAGE);
        private double last;

        QuoteReader(SocketAddress exchange) throws IOException {
            channel = SocketChannel.open(exchange);
        }

        @Override
        public void run() {
            try {
                while (channel.isOpen()) {
                    buffer.clear();
                    fill();
                    buffer.flip();
                    last = buffer.getLong() + buffer.getDouble();
                }
            } catch (IOException e) {
                System.err.println("feed: " + e + " after " + last);
            }
        }

        private void fill() throws IOException {
            while (buffer.hasRemaining()) {
                if (channel.read(buffer) < 0) {
                    throw new EOFException();
                }
            }
        }
    }

    private static void publish(List<SocketChannel> clients) {
        try {
            for (long tick = 0; ; tick++) {
                Thread.sleep(500);
                for (SocketChannel client : clients) {
                    ByteBuffer message = ByteBuffer.allocate(16).putLong(tick).putDouble(tick * 0.01);
                    client.write(message.flip());
                }
            }
        } catch (IOException | InterruptedException e) {
            System.err.println("exchange: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        ServerSocketChannel exchange =
            ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        List<SocketChannel> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread reader = new Thread(new QuoteReader(exchange.getLocalAddress()), "feed-" + i);
            clients.add(exchange.accept());
            reader.start();
        }
        new Thread(() -> publish(clients), "exchange").start();
        Thread.sleep(600);
        Incident.ready();
    }
}
