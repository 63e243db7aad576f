/*
 * incident: The receiver of an export has stopped reading, and the threads that send it are stuck in writing to the socket.
 * names: slow-peer Export.sendRows
 * jfr: none
 */
package sockets;

import incidents.Incident;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class Export {
    private final SocketAddress archive;

    Export(SocketAddress archive) {
        this.archive = archive;
    }

    private void export(String table) {
        try (Socket socket = new Socket()) {
            socket.connect(archive);
            sendRows(table, new BufferedOutputStream(socket.getOutputStream(), 4096));
        } catch (IOException e) {
            System.err.println(table + ": " + e);
        }
    }

    private void sendRows(String table, OutputStream out) throws IOException {
        for (long row = 0; row < Long.MAX_VALUE; row++) {
            out.write(format(table, row));
        }
        out.flush();
    }

    private static byte[] format(String table, long row) {
        return (table + "," + row + ",some text that is the same in each row\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Takes what fits into its buffers, and then sits there. */
    static final class Archive {
        public static void main(String[] args) throws IOException {
            ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            Incident.readyAsChild(server.getLocalPort());
            List<Socket> open = new ArrayList<>();
            while (true) {
                Socket socket = server.accept();
                socket.getInputStream().read(new byte[64]);
                open.add(socket);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Process archive = Incident.child(Archive.class);
        BufferedReader said = new BufferedReader(new InputStreamReader(archive.getInputStream()));
        int port = Integer.parseInt(said.readLine());
        Export export = new Export(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        ExecutorService tables = Executors.newFixedThreadPool(3);
        for (String table : List.of("orders", "customers", "stock")) {
            tables.execute(() -> export.export(table));
        }
        ScheduledExecutorService progress = Executors.newScheduledThreadPool(1);
        progress.scheduleAtFixedRate(System::nanoTime, 100, 100, TimeUnit.MILLISECONDS);
        Thread.sleep(2000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
