/*
 * incident: Each event makes a new Timer for its reminder, and no timer is cancelled: a thread stays for each.
 * names: thread-leak Timers.remind
 * jfr: jdk.ThreadStart Timers.remind
 */
import incidents.Incident;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

public final class Timers {
    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    private final List<Timer> timers = new ArrayList<>();
    private int shown;

    private void remind(String event, Duration after) {
        Timer timer = new Timer(true);
        timers.add(timer);
        timer.schedule(new TimerTask() {
            @Override
            public void run() {
                show(event);
            }
        }, after.toMillis());
    }

    private synchronized void show(String event) {
        shown += event.length();
    }

    private void plan() {
        try {
            while (true) {
                remind(events.take(), Duration.ofSeconds(2));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Timers calendar = new Timers();
        new Thread(calendar::plan, "planner").start();
        Thread users = new Thread(() -> {
            for (int i = 0; calendar.events.offer("meeting " + i); i++) {
                LockSupport.parkNanos(200_000_000);
            }
        }, "users");
        users.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
