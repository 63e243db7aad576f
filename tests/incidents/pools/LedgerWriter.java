/*
 * incident: A task of a single-threaded executor has a helper run something on that same executor and waits for it.
 * names: starved-pool LedgerWriter.onWriter
 * jfr: none
 */
package pools;

import incidents.Incident;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Everything that touches the ledger runs on one thread. */
public final class LedgerWriter {
    private final ExecutorService writer = Executors.newSingleThreadExecutor(task -> new Thread(task, "ledger-writer"));
    private final Map<String, Long> balances = new HashMap<>();

    private <T> T onWriter(Callable<T> change) {
        try {
            return writer.invokeAll(List.of(change)).get(0).get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    long add(String account, long cents) {
        return onWriter(() -> balances.merge(account, cents, Long::sum));
    }

    long close(String account) {
        return onWriter(() -> {
            long rest = balances.getOrDefault(account, 0L);
            // Forgets that it is on that thread already.
            add("closing", rest);
            return balances.remove(account);
        });
    }

    private static void pay(LedgerWriter ledger, String account) {
        for (int i = 1; ; i++) {
            ledger.add(account, i);
        }
    }

    public static void main(String[] args) throws Exception {
        LedgerWriter ledger = new LedgerWriter();
        ledger.add("rent", 90_000);
        new Thread(() -> ledger.close("rent"), "month-end").start();
        Thread.sleep(200);
        for (int i = 0; i < 4; i++) {
            String account = "customer-" + i;
            Thread till = new Thread(() -> pay(ledger, account), "till-" + i);
            till.setDaemon(true);
            till.start();
        }
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(System::nanoTime, 10, 10, TimeUnit.MILLISECONDS);
        Thread.sleep(300);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
