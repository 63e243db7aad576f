/*
 * incident: Subscriptions come and go in a list that is copied as a whole for each of them.
 * names: allocation-rate|cpu-hot-line SubscriptionList$Subscriptions.change
 * load: cpu
 * jfr: jdk.ObjectAllocationSample SubscriptionList
 */
import incidents.Incident;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

public final class SubscriptionList {
    static final class Subscriptions {
        private final List<Long> all = new CopyOnWriteArrayList<>();

        void change(long subscriber) {
            all.add(subscriber);
            if (all.size() > 20_000) {
                all.remove(0);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Subscriptions subscriptions = new Subscriptions();
        Thread clients = new Thread(() -> {
            for (long i = 0; ; i++) {
                subscriptions.change(i);
            }
        }, "clients");
        clients.setDaemon(true);
        clients.start();
        Thread.sleep(2000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
