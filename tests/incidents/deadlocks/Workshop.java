/*
 * incident: Three machines each hold their own monitor and hand a part to the next one, in a circle that never opens.
 * names: deadlock Machine.accept
 * jfr: none
 */
package deadlocks;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public final class Workshop {
    static final class Machine implements Runnable {
        private final String name;
        private final CyclicBarrier shift;
        private Machine next;
        private int parts;

        Machine(String name, CyclicBarrier shift) {
            this.name = name;
            this.shift = shift;
        }

        synchronized void accept(String part) {
            parts += part.length();
        }

        private synchronized void handOver(String part) throws Exception {
            parts--;
            shift.await();
            next.accept(part);
        }

        synchronized int parts() {
            return parts;
        }

        @Override
        public void run() {
            try {
                for (int i = 0; ; i++) {
                    handOver(name + "-" + i);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static void watch(List<Machine> line) {
        for (Machine machine : line) {
            System.err.println(machine.name + " has " + machine.parts());
        }
    }

    public static void main(String[] args) throws Exception {
        CyclicBarrier shift = new CyclicBarrier(3);
        List<Machine> line = new ArrayList<>();
        for (String name : List.of("lathe", "mill", "press")) {
            line.add(new Machine(name, shift));
        }
        for (int i = 0; i < line.size(); i++) {
            line.get(i).next = line.get((i + 1) % line.size());
        }
        for (Machine machine : line) {
            new Thread(machine, machine.name).start();
        }
        Thread.sleep(300);
        // The foreman wants to know, and waits with them.
        new Thread(() -> watch(line), "foreman").start();
        ScheduledExecutorService clock = Executors.newScheduledThreadPool(1);
        clock.scheduleAtFixedRate(System::currentTimeMillis, 100, 100, TimeUnit.MILLISECONDS);
        Thread.sleep(300);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
