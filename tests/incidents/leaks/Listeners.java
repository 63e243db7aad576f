/*
 * incident: Each dialogue adds a listener to the model when it opens, and none is removed when it closes.
 * names: heap-growth|heap-nearly-full Listeners
 * flags: -Xmx192m -Xmn8m
 * jfr: jdk.OldObjectSample Listeners
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

public final class Listeners {
    static final class Model {
        private final List<IntConsumer> listeners = new ArrayList<>();

        synchronized void addListener(IntConsumer listener) {
            listeners.add(listener);
        }
    }

    static final class Dialogue {
        private final char[] canvas = new char[8000];
        private int shown;

        void open(Model model) {
            model.addListener(this::show);
            paint();
        }

        private void show(int value) {
            shown = value;
        }

        private void paint() {
            for (int i = 0; i < canvas.length; i++) {
                canvas[i] = (char) ('a' + (i + shown) % 26);
            }
        }
    }

    private final Model model = new Model();
    private int length;

    private void click() {
        Dialogue dialogue = new Dialogue();
        dialogue.open(model);
        for (int i = 0; i < 30; i++) {
            length += String.valueOf(dialogue.canvas).length() % 3;
        }
    }

    public static void main(String[] args) throws Exception {
        Listeners window = new Listeners();
        Executors.newSingleThreadScheduledExecutor().scheduleAtFixedRate(window::click, 0, 18, TimeUnit.MILLISECONDS);
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
