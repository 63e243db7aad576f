/*
 * incident: A loop over an index asks a LinkedList for each of its 20000 elements, which walks from an end each time.
 * names: list-search|cpu-hot-line|cpu-hot-method LinkedGet.total
 * load: cpu
 * jfr: jdk.ExecutionSample LinkedGet.total
 */
import incidents.Incident;
import java.util.LinkedList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class LinkedGet {
    private static List<long[]> bookings() {
        List<long[]> bookings = new LinkedList<>();
        for (int i = 0; i < 20_000; i++) {
            bookings.add(new long[] {i, i % 97});
        }
        return bookings;
    }

    private static long total(List<long[]> bookings) {
        long total = 0;
        for (int i = 0; i < bookings.size(); i++) {
            total += bookings.get(i)[1];
        }
        return total;
    }

    private static Callable<Long> statement(List<long[]> bookings) {
        return () -> {
            long checked = 0;
            while (checked >= 0) {
                checked = total(bookings);
            }
            return checked;
        };
    }

    public static void main(String[] args) throws Exception {
        ExecutorService bank = Executors.newCachedThreadPool();
        bank.submit(statement(bookings()));
        Thread.sleep(600);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
