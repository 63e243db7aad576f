/*
 * incident: The sensors are read through a shell command whose output comes after half a second, by three threads all the time.
 * names: slow-process Sensor.read
 * jfr: jdk.FileRead Sensor.read
 */
package processes;

import incidents.Incident;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class ReadChildOutput {
    static final class Sensor {
        private final String name;

        Sensor(String name) {
            this.name = name;
        }

        double read() throws IOException {
            Process shell = Incident.adopt(new ProcessBuilder("sh", "-c", "sleep 0.5; echo 21.5 " + name).start());
            try (BufferedReader out = new BufferedReader(new InputStreamReader(shell.getInputStream()))) {
                String line = out.readLine();
                return line == null ? Double.NaN : Double.parseDouble(line.substring(0, line.indexOf(' ')));
            }
        }
    }

    private final Map<String, Double> latest = new LinkedHashMap<>();

    private void poll(Sensor sensor) {
        while (!Thread.currentThread().isInterrupted()) {
            try {
                record(sensor.name, sensor.read());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private void record(String name, double value) {
        synchronized (latest) {
            latest.put(name, value);
        }
    }

    public static void main(String[] args) throws Exception {
        ReadChildOutput house = new ReadChildOutput();
        ExecutorService polling = Executors.newFixedThreadPool(3);
        for (String room : new String[] {"kitchen", "cellar", "attic"}) {
            polling.execute(() -> house.poll(new Sensor(room)));
        }
        ExecutorService idle = Executors.newFixedThreadPool(2);
        idle.submit(() -> house.latest);
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
