/*
 * incident: Each request gets its own copy of the configuration by writing it to an ObjectOutputStream and reading it again.
 * names: cpu-hot-line|cpu-hot-method|allocation-rate Serialised.copy
 * load: cpu
 * jfr: jdk.ExecutionSample Serialised.copy
 */
import incidents.Incident;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class Serialised {
    static final class Settings implements Serializable {
        private static final long serialVersionUID = 1;

        private final Map<String, List<String>> values = new HashMap<>();

        static Settings load() {
            Settings settings = new Settings();
            for (int i = 0; i < 60; i++) {
                settings.values.computeIfAbsent("key." + i % 20, key -> new ArrayList<>()).add("value " + i);
            }
            return settings;
        }
    }

    private static Settings copy(Settings settings) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(settings);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            return (Settings) in.readObject();
        } catch (ClassNotFoundException e) {
            throw new IOException(e);
        }
    }

    private static volatile long served;

    private static int handle(Settings shared, int user) throws IOException {
        Settings mine = copy(shared);
        mine.values.get("key.0").add("user " + user);
        return mine.values.size();
    }

    private static void serve() {
        Settings shared = Settings.load();
        try {
            for (int user = 0; handle(shared, user) > 0; user++) {
                served++;
            }
        } catch (IOException e) {
            System.err.println("no copy: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(Serialised::serve, "http-1").start();
        Thread.sleep(600);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
