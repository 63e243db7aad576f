/*
 * healthy: Two helper processes run all the time, and a thread for each reads the lines that they print now and then.
 */
package healthy;

import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public final class ChildLogs {
    private final Deque<String> last = new ConcurrentLinkedDeque<>();

    private void follow(String name, Process helper) {
        try (BufferedReader out = new BufferedReader(new InputStreamReader(helper.getInputStream()))) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                keep(name + ": " + line);
            }
        } catch (IOException e) {
            keep(name + " is gone");
        }
    }

    private void keep(String line) {
        last.addLast(line);
        if (last.size() > 100) {
            last.removeFirst();
        }
    }

    /** Something that runs beside it. */
    static final class Helper {
        public static void main(String[] args) throws InterruptedException {
            Incident.readyAsChild("started");
            for (int i = 0; ; i++) {
                Thread.sleep(1500);
                System.out.println("still here, round " + i);
            }
        }
    }

    public static void main(String[] args) throws Exception {
        ChildLogs logs = new ChildLogs();
        for (String name : List.of("indexer", "cleaner")) {
            Process helper = Incident.child(Helper.class);
            new Thread(() -> logs.follow(name, helper), name + "-output").start();
        }
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(logs.last::peekLast, 1, 1, TimeUnit.SECONDS);
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
