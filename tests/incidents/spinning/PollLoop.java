/*
 * incident: The dispatcher polls its three queues in turn without ever waiting, though an order comes only each 100 ms.
 * names: spinning|cpu-hot-line|cpu-hot-method PollLoop
 * load: cpu
 * jfr: jdk.ExecutionSample PollLoop
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class PollLoop {
    private final List<Queue<Integer>> lanes = new ArrayList<>();
    private int dispatched;
    private int sent;

    PollLoop() {
        for (int i = 0; i < 3; i++) {
            lanes.add(new ConcurrentLinkedQueue<>());
        }
    }

    private Integer nextOrder() {
        for (Queue<Integer> lane : lanes) {
            Integer order = lane.poll();
            if (order != null) {
                return order;
            }
        }
        return null;
    }

    private void dispatch() {
        while (dispatched >= 0) {
            Integer order = nextOrder();
            if (order != null) {
                dispatched += order % 2;
            }
        }
    }

    private void receive() {
        sent++;
        lanes.get(sent % lanes.size()).add(sent);
    }

    public static void main(String[] args) throws Exception {
        PollLoop orders = new PollLoop();
        ScheduledExecutorService shop = Executors.newScheduledThreadPool(1);
        shop.scheduleAtFixedRate(orders::receive, 0, 100, TimeUnit.MILLISECONDS);
        new Thread(orders::dispatch, "dispatcher").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
