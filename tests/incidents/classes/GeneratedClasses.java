/*
 * incident: Each change of the price rules defines their class anew in a loader of its own, and all loaders are kept.
 * names: class-leak GeneratedClasses
 * jfr: jdk.ClassLoaderStatistics RuleLoader
 */
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

public final class GeneratedClasses {
    public static final class Discount implements IntUnaryOperator {
        @Override
        public int applyAsInt(int cents) {
            return cents - cents / 20;
        }
    }

    /** Defines one class that its parent has, too. */
    static final class RuleLoader extends ClassLoader {
        RuleLoader() {
            super(GeneratedClasses.class.getClassLoader());
        }

        Class<?> define(byte[] code) {
            return defineClass(null, code, 0, code.length);
        }
    }

    private final List<IntUnaryOperator> versions = new ArrayList<>();
    private final byte[] code;

    GeneratedClasses() throws IOException {
        try (InputStream in = GeneratedClasses.class.getResourceAsStream("GeneratedClasses$Discount.class")) {
            code = in.readAllBytes();
        }
    }

    private IntUnaryOperator compile() throws ReflectiveOperationException {
        return (IntUnaryOperator) new RuleLoader().define(code).getConstructor().newInstance();
    }

    private void change() {
        try {
            IntUnaryOperator rule = compile();
            if (rule.applyAsInt(100) == 95) {
                versions.add(rule);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        GeneratedClasses rules = new GeneratedClasses();
        Thread editor = new Thread(() -> {
            try {
                while (true) {
                    rules.change();
                    Thread.sleep(25);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "editor");
        editor.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
