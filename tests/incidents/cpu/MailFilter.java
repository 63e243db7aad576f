/*
 * incident: The address pattern has a repetition within a repetition, and takes exponential time for addresses that do not match.
 * names: regular-expression MailFilter.isAddress
 * load: cpu
 * jfr: jdk.ExecutionSample MailFilter.isAddress
 */
package cpu;

import incidents.Incident;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.regex.Pattern;

public final class MailFilter {
    // A tag must be one of the words before it, as in ann.miller+miller@example.org.
    private static final Pattern ADDRESS = Pattern.compile("^([a-z0-9.]+[a-z0-9])+(\\+\\1)?@([a-z]+\\.)+[a-z]{2,4}$");

    private final BlockingQueue<String> inbox = new ArrayBlockingQueue<>(64);
    private int refused;

    private static boolean isAddress(String sender) {
        return ADDRESS.matcher(sender).matches();
    }

    private void filter() {
        try {
            while (true) {
                String sender = inbox.take();
                if (!isAddress(sender)) {
                    refused++;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void receive() {
        List<String> senders = List.of("ann@example.org", "bob.miller@mail.example.com", "newsletterofthesummersale!");
        try {
            for (int i = 0; ; i++) {
                inbox.put(senders.get(i % senders.size()));
                Thread.sleep(2);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        MailFilter filter = new MailFilter();
        Thread receiver = new Thread(filter::receive, "receiver");
        Thread worker = new Thread(filter::filter, "filter");
        receiver.start();
        worker.start();
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
