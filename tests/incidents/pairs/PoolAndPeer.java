/*
 * incident: All threads of the export pool wait for tasks of that same pool, and the other threads wait for a mail server that takes 300 ms.
 * names: starved-pool Export.run
 * names: slow-peer MailServer.command
 * jfr: jdk.SocketRead MailServer.command
 */
package pairs;

import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public final class PoolAndPeer {
    static final class Export {
        private final ExecutorService pool = Executors.newFixedThreadPool(3);

        void start(int table) {
            pool.submit(() -> run(table));
        }

        private int run(int table) throws Exception {
            Thread.sleep(30);
            Future<Integer> rows = pool.submit(() -> table * 1000);
            return rows.get() + 1;
        }
    }

    static final class MailServer {
        private final BufferedReader in;
        private final Writer out;

        MailServer(int port) throws IOException {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            out = new OutputStreamWriter(socket.getOutputStream());
        }

        String command(String text) throws IOException {
            out.write(text + "\n");
            out.flush();
            return in.readLine();
        }
    }

    /** The mail server, another process. */
    static final class Server {
        public static void main(String[] args) throws IOException {
            ServerSocket server = new ServerSocket(0, 20, InetAddress.getLoopbackAddress());
            Incident.readyAsChild(server.getLocalPort());
            while (true) {
                Socket client = server.accept();
                new Thread(() -> talk(client)).start();
            }
        }

        private static void talk(Socket client) {
            try (BufferedReader in = new BufferedReader(new InputStreamReader(client.getInputStream()))) {
                while (in.readLine() != null) {
                    Thread.sleep(300);
                    client.getOutputStream().write("250 OK\n".getBytes());
                }
            } catch (IOException | InterruptedException e) {
                // The sender has gone.
            }
        }
    }

    private static void sendMails(MailServer server) {
        try {
            String answer = "250";
            for (int mail = 0; answer != null && answer.startsWith("250"); mail++) {
                answer = server.command("DATA mail " + mail);
            }
        } catch (IOException e) {
            System.err.println("mail: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        Process process = Incident.child(Server.class);
        int port = Integer.parseInt(new BufferedReader(new InputStreamReader(process.getInputStream())).readLine());
        for (int i = 0; i < 5; i++) {
            MailServer server = new MailServer(port);
            new Thread(() -> sendMails(server), "mail-" + i).start();
        }
        Export export = new Export();
        for (int table = 0; table < 9; table++) {
            export.start(table);
        }
        Thread.sleep(500);
        Incident.ready();
    }
}
