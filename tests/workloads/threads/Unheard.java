import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Scanner;

/** A connection to a server that never answers. A work writes a request into it, and a thread waits for the answer all the time. */
public class Unheard {
    static void ask(InputStream answers) {
        try {
            answers.read();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    public static void main(String[] args) throws IOException {
        // The client has the first address of the interface, so each side can be told by its address.
        ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName("127.0.0.2"));
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
        Socket accepted = server.accept();
        InputStream answers = client.getInputStream();
        Thread asker = new Thread(() -> ask(answers), "asker");
        asker.setDaemon(true);
        asker.start();
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            client.getOutputStream().write(new byte[100]);
            System.out.println("DONE port=" + accepted.getLocalPort());
        }
    }
}
