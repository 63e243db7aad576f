/*
 * incident: The exporters are stuck in writing to an archive process that has stopped to read.
 * names: slow-peer Exporter.send
 * jfr: none
 */
package sockets;

import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public final class ReceiverStalls {
    static final class Exporter extends Thread {
        private final Socket archive;
        private long records;

        Exporter(String name, int port) throws IOException {
            super(name);
            archive = new Socket(InetAddress.getLoopbackAddress(), port);
            archive.setSendBufferSize(16 * 1024);
        }

        @Override
        public void run() {
            try (OutputStream out = archive.getOutputStream()) {
                while (!isInterrupted()) {
                    send(out, record());
                }
            } catch (IOException e) {
                System.err.println(getName() + " ends after " + records + ": " + e);
            }
        }

        private byte[] record() {
            byte[] record = new byte[4096];
            Arrays.fill(record, (byte) records++);
            return record;
        }

        private void send(OutputStream out, byte[] record) throws IOException {
            out.write(record);
            out.flush();
        }
    }

    /** The archive accepts connections and looks at the first byte. */
    static final class Archive {
        public static void main(String[] args) throws IOException {
            ServerSocket server = new ServerSocket(0, 20, InetAddress.getLoopbackAddress());
            server.setReceiveBufferSize(8 * 1024);
            Incident.readyAsChild(server.getLocalPort());
            List<Socket> open = new ArrayList<>();
            while (open.size() < 100) {
                Socket client = server.accept();
                client.getInputStream().read();
                open.add(client);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Process archive = Incident.child(Archive.class);
        String port = new BufferedReader(new InputStreamReader(archive.getInputStream())).readLine();
        for (String table : List.of("orders", "customers", "returns")) {
            new Exporter("export-" + table, Integer.parseInt(port)).start();
        }
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
