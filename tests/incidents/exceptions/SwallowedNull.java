/*
 * incident: Customers without an address raise a NullPointerException in each round, and a loop swallows all of them.
 * names: exceptions|exception-rate|method-errors SwallowedNull
 * load: cpu
 * flags: -XX:-OmitStackTraceInFastThrow
 * jfr: jdk.ExecutionSample SwallowedNull
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

public final class SwallowedNull {
    private static volatile int printed;

    static final class Address {
        private final String city;

        Address(String city) {
            this.city = city;
        }
    }

    static final class Customer {
        private final String name;
        private final Address address;

        Customer(String name, Address address) {
            this.name = name;
            this.address = address;
        }

        String label() {
            return name + ", " + address.city.toUpperCase(Locale.ROOT);
        }
    }

    private final List<Customer> customers = new ArrayList<>();

    private void load() {
        for (int i = 0; i < 5000; i++) {
            customers.add(new Customer("C" + i, i % 8 == 0 ? new Address("Graz") : null));
        }
    }

    private void printLabels() {
        for (Customer customer : customers) {
            try {
                printed += customer.label().length();
            } catch (Exception e) {
                // Some customers have none.
            }
        }
    }

    private void nightly() {
        while (!Thread.currentThread().isInterrupted()) {
            printLabels();
        }
    }

    public static void main(String[] args) throws Exception {
        SwallowedNull job = new SwallowedNull();
        job.load();
        Thread nightly = new Thread(job::nightly, "nightly");
        nightly.setDaemon(true);
        nightly.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
