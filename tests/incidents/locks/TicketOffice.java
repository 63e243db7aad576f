/*
 * incident: All sellers share one throttle that sleeps inside its synchronized method, so only one of them sells at a time.
 * names: lock-contention|lock-chain Throttle.acquire
 * jfr: jdk.JavaMonitorEnter Throttle
 */
package locks;

import incidents.Incident;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

public final class TicketOffice {
    private static final int SELLERS = 12;

    /** Lets so many requests through a second. */
    static final class Throttle {
        private final long intervalMs;
        private long next = System.currentTimeMillis();

        Throttle(int perSecond) {
            intervalMs = 1000L / perSecond;
        }

        synchronized void acquire() throws InterruptedException {
            long now = System.currentTimeMillis();
            if (now < next) {
                Thread.sleep(next - now);
            }
            next = Math.max(now, next) + intervalMs;
        }
    }

    static final class Event {
        private final Map<Integer, String> seats = new HashMap<>();

        boolean sell(int seat, String buyer) {
            synchronized (seats) {
                return seats.putIfAbsent(seat, buyer) == null;
            }
        }

        void release(int seat) {
            synchronized (seats) {
                seats.remove(seat);
            }
        }
    }

    private final Throttle throttle = new Throttle(20);
    private final Event concert = new Event();

    private void sellForEver(String seller) {
        try {
            while (!Thread.currentThread().isInterrupted()) {
                int seat = ThreadLocalRandom.current().nextInt(5000);
                throttle.acquire();
                if (concert.sell(seat, seller)) {
                    concert.release(seat);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        TicketOffice office = new TicketOffice();
        List<Thread> sellers = new ArrayList<>();
        for (int i = 1; i <= SELLERS; i++) {
            String name = "seller-" + i;
            Thread seller = new Thread(() -> office.sellForEver(name), name);
            seller.start();
            sellers.add(seller);
        }
        ScheduledExecutorService reports = Executors.newScheduledThreadPool(1);
        reports.scheduleAtFixedRate(() -> office.concert.release(4999), 1, 1, TimeUnit.SECONDS);
        Thread.sleep(200);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
