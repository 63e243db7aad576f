/*
 * incident: Templates are compiled to a new class that stays, and a search compares a word with all others by edit distance.
 * names: class-leak ClassesAndHotLine
 * names: cpu-hot-line|cpu-hot-method ClassesAndHotLine.distance
 * load: cpu
 * jfr: jdk.ExecutionSample ClassesAndHotLine.distance
 */
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

public final class ClassesAndHotLine {
    public static final class Template {
        @Override
        public String toString() {
            return "<p>hello</p>";
        }
    }

    static final class TemplateLoader extends ClassLoader {
        Object compile(byte[] code) throws ReflectiveOperationException {
            return defineClass(null, code, 0, code.length).getConstructor().newInstance();
        }
    }

    private final List<Object> templates = new ArrayList<>();
    private volatile int best;

    private static int distance(String a, String b) {
        int[][] costs = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    costs[i][j] = i + j;
                } else {
                    int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                    costs[i][j] = Math.min(costs[i - 1][j - 1] + change, Math.min(costs[i - 1][j], costs[i][j - 1]) + 1);
                }
            }
        }
        return costs[a.length()][b.length()];
    }

    private void suggest() {
        String[] words = {"invoice", "delivery note", "order confirmation", "reminder", "credit note"};
        for (int i = 0; ; i++) {
            best = distance("invioce confirmaton", words[i % words.length]);
        }
    }

    private void render(byte[] code) {
        try {
            while (true) {
                templates.add(new TemplateLoader().compile(code));
                Thread.sleep(25);
            }
        } catch (ReflectiveOperationException | InterruptedException e) {
            System.err.println("no template: " + e);
        }
    }

    public static void main(String[] args) throws Exception {
        ClassesAndHotLine editor = new ClassesAndHotLine();
        byte[] code = read();
        new Thread(editor::suggest, "suggest").start();
        new Thread(() -> editor.render(code), "render").start();
        Thread.sleep(600);
        Incident.ready();
        Incident.untilStdinEnds();
    }

    private static byte[] read() throws IOException {
        try (InputStream in = Template.class.getResourceAsStream("ClassesAndHotLine$Template.class")) {
            return in.readAllBytes();
        }
    }
}
