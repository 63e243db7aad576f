/*
 * incident: Three robots each hold their own tool and wait for the tool of the next one, in a circle.
 * names: deadlock Robot.handOver
 * jfr: jdk.ThreadDump Java-level deadlock
 */
package deadlocks;

import incidents.Incident;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class ThreeInACircle {
    static final class Tool {
        private final String name;
        private int uses;

        Tool(String name) {
            this.name = name;
        }
    }

    static final class Robot implements Runnable {
        private final Tool own;
        private final Tool next;
        private final CyclicBarrier shift;

        Robot(Tool own, Tool next, CyclicBarrier shift) {
            this.own = own;
            this.next = next;
            this.shift = shift;
        }

        @Override
        public void run() {
            synchronized (own) {
                own.uses++;
                waitForShift();
                handOver();
            }
        }

        private void handOver() {
            synchronized (next) {
                next.uses++;
            }
        }

        private void waitForShift() {
            try {
                shift.await();
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new IllegalStateException(own.name, e);
            }
        }
    }

    private static void count(Tool tool) {
        synchronized (tool) {
            tool.uses = 0;
        }
    }

    public static void main(String[] args) throws Exception {
        Tool[] tools = {new Tool("drill"), new Tool("saw"), new Tool("welder")};
        CyclicBarrier shift = new CyclicBarrier(tools.length);
        ExecutorService hall = Executors.newFixedThreadPool(8);
        for (int i = 0; i < tools.length; i++) {
            hall.execute(new Robot(tools[i], tools[(i + 1) % tools.length], shift));
        }
        Thread.sleep(300);
        hall.execute(() -> count(tools[0]));
        hall.execute(() -> count(tools[2]));
        hall.execute(() -> count(tools[2]));
        Thread.sleep(200);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
