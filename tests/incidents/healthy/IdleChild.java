/*
 * healthy: A helper process stays alive to answer now and then, and a thread waits for its end to start it anew.
 */
import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;

public final class IdleChild {
    private final Process helper;
    private final PrintWriter to;
    private final BufferedReader from;

    IdleChild() throws IOException {
        // It repeats what it is told, and ends with its input.
        helper = Incident.adopt(new ProcessBuilder("cat").start());
        to = new PrintWriter(helper.getOutputStream(), true);
        from = new BufferedReader(new InputStreamReader(helper.getInputStream()));
    }

    private void reap() {
        try {
            System.err.println("the helper ended with " + helper.waitFor());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String ask(String question) throws IOException {
        to.println(question);
        return from.readLine();
    }

    public static void main(String[] args) throws Exception {
        IdleChild spelling = new IdleChild();
        new Thread(spelling::reap, "reaper").start();
        spelling.ask("warm");
        Thread.sleep(300);
        Incident.ready();
        for (int i = 0; spelling.ask("word " + i) != null; i++) {
            Thread.sleep(1000);
        }
    }
}
