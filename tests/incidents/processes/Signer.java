/*
 * incident: Documents are signed by a helper process over its standard input and output, and it takes 600 ms for each.
 * names: slow-process Signer.sign
 * jfr: none
 */
package processes;

import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class Signer {
    private final Writer requests;
    private final BufferedReader answers;

    Signer() throws IOException {
        Process helper = Incident.child(Helper.class);
        requests = new OutputStreamWriter(helper.getOutputStream(), StandardCharsets.US_ASCII);
        answers = new BufferedReader(new InputStreamReader(helper.getInputStream(), StandardCharsets.US_ASCII));
    }

    synchronized String sign(String digest) throws IOException {
        requests.write(digest + "\n");
        requests.flush();
        return answers.readLine();
    }

    /** The helper; it talks to a card that is slow. */
    static final class Helper {
        public static void main(String[] args) throws IOException, InterruptedException {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                Thread.sleep(600);
                System.out.println(new StringBuilder(line).reverse());
            }
        }
    }

    private static void signContracts(Signer signer, String office) {
        try {
            for (int contract = 1; signer.sign(office + "-" + contract) != null; contract++) {
                Thread.sleep(10);
            }
        } catch (IOException e) {
            System.err.println(office + ": " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        for (String office : List.of("berlin", "hamburg", "kiel")) {
            Signer signer = new Signer();
            new Thread(() -> signContracts(signer, office), "office-" + office).start();
        }
        ScheduledExecutorService renewals = Executors.newScheduledThreadPool(2);
        renewals.scheduleWithFixedDelay(System::currentTimeMillis, 0, 200, TimeUnit.MILLISECONDS);
        Thread.sleep(2500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
