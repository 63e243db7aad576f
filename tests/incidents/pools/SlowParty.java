/*
 * incident: Six threads reckon a step of a simulation and meet at a barrier; one of them saves each step first, and all wait for it.
 * names: slow-party Simulation.run
 * jfr: jdk.ThreadSleep SlowParty
 */
package pools;

import incidents.Incident;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;

public final class SlowParty {
    private static final int CELLS = 6;

    static final class Simulation {
        private final CyclicBarrier step = new CyclicBarrier(CELLS);
        private final double[] heat = new double[CELLS * 64];

        void run(int cell) {
            try {
                while (true) {
                    reckon(cell);
                    if (cell == 3) {
                        save();
                    }
                    step.await();
                }
            } catch (InterruptedException | BrokenBarrierException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void reckon(int cell) {
            for (int at = cell * 64; at < (cell + 1) * 64; at++) {
                heat[at] = heat[at] * 0.9 + at;
            }
        }

        private void save() throws InterruptedException {
            TimeUnit.MILLISECONDS.sleep(350);
        }
    }

    public static void main(String[] args) throws Exception {
        Simulation simulation = new Simulation();
        for (int i = 0; i < CELLS; i++) {
            int cell = i;
            new Thread(() -> simulation.run(cell), "cell-" + cell).start();
        }
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
