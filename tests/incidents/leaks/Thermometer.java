/*
 * incident: A timer's task adds each reading to a list of its own, of which the last ten are all that anybody looks at.
 * names: collection-grows Readings.all
 * flags: -Xmx1g
 * jfr: none
 */
package leaks;

import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.Timer;
import java.util.TimerTask;

public final class Thermometer {
    static final class Readings extends TimerTask {
        private final List<Double> all = new ArrayList<>();
        private double average;

        @Override
        public void run() {
            for (int sensor = 0; sensor < 3; sensor++) {
                all.add(20 + Math.sin(all.size()));
            }
            double sum = 0;
            for (double one : all.subList(Math.max(0, all.size() - 10), all.size())) {
                sum += one;
            }
            average = sum / 10;
        }
    }

    public static void main(String[] args) throws Exception {
        new Timer("thermometer").scheduleAtFixedRate(new Readings(), 0, 10);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
