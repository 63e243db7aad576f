/*
 * incident: After a large answer a channel keeps its interest in OP_WRITE, so that the selector returns at once for ever.
 * names: selector-spins|spinning|cpu-hot-line StaleInterest.loop
 * jfr: none
 */
package sockets;

import incidents.Incident;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Iterator;

public final class StaleInterest {
    private final Selector selector;
    private final ByteBuffer buffer = ByteBuffer.allocate(512);
    private final ByteBuffer pending = ByteBuffer.allocate(64);

    private StaleInterest(Selector selector) {
        this.selector = selector;
    }

    private void loop() {
        try {
            while (true) {
                selector.select();
                Iterator<SelectionKey> ready = selector.selectedKeys().iterator();
                while (ready.hasNext()) {
                    handle(ready.next());
                    ready.remove();
                }
            }
        } catch (IOException e) {
            // The loop ends with its channel.
        }
    }

    private void handle(SelectionKey key) throws IOException {
        SocketChannel channel = (SocketChannel) key.channel();
        if (key.isReadable()) {
            buffer.clear();
            channel.read(buffer);
        }
        if (key.isWritable() && pending.hasRemaining()) {
            channel.write(pending);
        }
    }

    public static void main(String[] args) throws Exception {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        SocketChannel client = SocketChannel.open(server.getLocalAddress());
        SocketChannel accepted = server.accept();
        accepted.configureBlocking(false);
        Selector selector = Selector.open();
        accepted.register(selector, SelectionKey.OP_READ | SelectionKey.OP_WRITE);
        new Thread(new StaleInterest(selector)::loop, "event-loop").start();
        Incident.ready();
        ByteBuffer request = ByteBuffer.wrap(new byte[] {1, 2, 3});
        while (true) {
            request.rewind();
            client.write(request);
            Thread.sleep(50);
        }
    }
}
