import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** A Java compiler (the JDK's or Eclipse's) on two hundred classes that use each other, generics and lambdas. */
final class Compilation implements Programs.Program {
    private static final int CLASSES = 200;

    private final boolean eclipse;
    private final Path sources = Files.createTempDirectory("made");
    private final List<String> files = new ArrayList<>();

    Compilation(boolean eclipse) throws IOException {
        this.eclipse = eclipse;
        for (int i = 0; i < CLASSES; i++) {
            files.add(Files.writeString(sources.resolve("C" + i + ".java"), source(i)).toString());
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> remove(sources)));
    }

    private static String source(int i) {
        StringBuilder text = new StringBuilder("package made;\nimport java.util.*;\nimport java.util.function.*;\n");
        text.append("public class C").append(i).append("<T extends Comparable<T>> {\n  private final Map<String, List<T>> all")
            .append(" = new TreeMap<>();\n");
        for (int m = 0; m < 12; m++) {
            int other = (i * 7 + m * 13) % CLASSES;
            text.append("  public int m").append(m).append("(String key, T value, int n) {\n")
                .append("    all.computeIfAbsent(key + n, any -> new ArrayList<>()).add(value);\n")
                .append("    int sum = ").append(m).append(";\n    for (List<T> list : all.values()) {\n")
                .append("      sum += list.stream().filter(x -> x.compareTo(value) < n).mapToInt(x -> x.hashCode() % ")
                .append(m + 3).append(").sum();\n    }\n    switch (sum % 4) {\n      case 0: return sum * n;\n")
                .append("      case 1: return n > 0 ? new C").append(other).append("<T>().m").append((m + 1) % 12)
                .append("(key, value, n - 1) : 0;\n      default: try { return Integer.parseInt(key) / n; }\n")
                .append("        catch (ArithmeticException | NumberFormatException e) { return -1; }\n    }\n  }\n");
        }
        return text.append("}\n").toString();
    }

    @Override
    public long round() throws Exception {
        Path folder = Files.createTempDirectory("compiled");
        try {
            List<String> words = new ArrayList<>(List.of("-d", folder.toString(), "-g", "-nowarn", "-source", "11", "-target", "11",
                "--system", System.getProperty("compiled.against", System.getProperty("java.home")), "-proc:none"));
            words.addAll(files);
            if (!compile(words.toArray(new String[0]))) {
                throw new IllegalStateException("the sources do not compile");
            }
            try (Stream<Path> classes = Files.walk(folder)) {
                return classes.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
            }
        } finally {
            remove(folder);
        }
    }

    private boolean compile(String[] words) throws Exception {
        if (!eclipse) {
            return ToolProvider.getSystemJavaCompiler().run(null, System.err, System.err, words) == 0;
        }
        Class<?> compiler = Class.forName("org.eclipse.jdt.core.compiler.batch.BatchCompiler");
        Class<?> progress = Class.forName("org.eclipse.jdt.core.compiler.CompilationProgress");
        Method compile = compiler.getMethod("compile", String[].class, PrintWriter.class, PrintWriter.class, progress);
        PrintWriter errors = new PrintWriter(System.err);
        return (Boolean) compile.invoke(null, words, errors, errors, null);
    }

    private static void remove(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
