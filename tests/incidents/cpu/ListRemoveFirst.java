/*
 * incident: An ArrayList of 50000 jobs is used as a queue: taking the first one moves all others, and each new one is searched for first.
 * names: list-search|cpu-hot-line|cpu-hot-method ListRemoveFirst
 * load: cpu
 * jfr: jdk.ExecutionSample ListRemoveFirst
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class ListRemoveFirst {
    private final List<Integer> jobs = new ArrayList<>();
    private volatile int done;

    private void submit(Integer job) {
        if (!jobs.contains(job)) {
            jobs.add(job);
        }
    }

    private Integer next() {
        return jobs.remove(0);
    }

    private void run() {
        int number = 0;
        while (jobs.size() < 50_000) {
            jobs.add(number++);
        }
        while (true) {
            submit(number++);
            done = next();
        }
    }

    private void tell() {
        if (done < 0) {
            System.err.println("no jobs");
        }
    }

    public static void main(String[] args) throws Exception {
        ListRemoveFirst queue = new ListRemoveFirst();
        ScheduledExecutorService watch = Executors.newScheduledThreadPool(1);
        watch.scheduleWithFixedDelay(queue::tell, 1, 1, TimeUnit.SECONDS);
        new Thread(queue::run, "jobs").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
