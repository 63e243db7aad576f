package jtrace.bench;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Java sources to compile and to check: classes that use each other, generics, lambdas and inner classes. Class number i
 * adds i to what class i-1 gives, so that the last of n classes gives the sum of all numbers below n.
 */
final class Sources {
    /** Methods of a class that are there for their number; each has one line of trailing blanks, for the checks of style. */
    static final int METHODS = 12;

    private final Path folder = Path.of("made");
    private final List<Path> files = new ArrayList<>();

    Sources(int classes) throws IOException {
        Files.createDirectories(folder);
        for (int i = 0; i < classes; i++) {
            files.add(Files.writeString(folder.resolve("Made" + i + ".java"), source(i, classes)));
        }
    }

    List<Path> files() {
        return files;
    }

    private static String source(int i, int classes) {
        StringBuilder text = new StringBuilder("package made;\n\nimport java.util.*;\nimport java.util.function.*;\n\n");
        text.append("public class Made").append(i).append("<T extends Comparable<T>> {\n")
            .append("  private final Map<String, List<T>> all = new TreeMap<>();\n")
            .append("  public static long sum() {\n    return ").append(i)
            .append(i == 0 ? "" : " + Made" + (i - 1) + ".sum()").append(";\n  }\n");
        for (int m = 0; m < METHODS; m++) {
            int other = (i * 7 + m * 13) % classes;
            text.append("  public int work").append(m).append("(String key, T value, int n) {\n")
                .append("    all.computeIfAbsent(key + n, any -> new ArrayList<>()).add(value);  \n")
                .append("    int sum = ").append(m).append(";\n    for (List<T> list : all.values()) {\n")
                .append("      sum += list.stream().filter(x -> x.compareTo(value) < n).mapToInt(x -> x.hashCode() % ")
                .append(m + 3).append(").sum();\n    }\n    switch (sum % 4) {\n      case 0: return sum * n;\n")
                .append("      case 1: return n > 0 ? new Made").append(other).append("<T>().work").append((m + 1) % METHODS)
                .append("(key, value, n - 1) : 0;\n      default: try { return Integer.parseInt(key) / n; }\n")
                .append("        catch (ArithmeticException | NumberFormatException e) { return -1; }\n    }\n  }\n");
        }
        return text.append("  interface Inner<T> extends Supplier<T> {\n    default T twice() { get(); return get(); }\n  }\n}\n")
            .toString();
    }

    /** An empty folder for what is compiled. */
    Path target() throws IOException {
        Path target = Path.of("compiled");
        if (Files.exists(target)) {
            try (Stream<Path> old = Files.walk(target)) {
                old.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
            }
        }
        return Files.createDirectories(target);
    }

    /** Whether all is there and does what it should; the fingerprint is the size of all files. */
    long check(Path target, Map<String, Long> counts) throws Exception {
        long size = 0;
        long found = 0;
        try (Stream<Path> all = Files.walk(target)) {
            for (Path file : (Iterable<Path>) all.filter(name -> name.toString().endsWith(".class"))::iterator) {
                found++;
                size += Files.size(file);
            }
        }
        // Each class has one inner class.
        Work.Wrong.unless("class files", found, 2L * files.size());
        try (URLClassLoader loader = new URLClassLoader(new URL[] {target.toUri().toURL()})) {
            int last = files.size() - 1;
            long sum = (Long) loader.loadClass("made.Made" + last).getMethod("sum").invoke(null);
            Work.Wrong.unless("as the sum that the compiled classes give", sum, (long) last * files.size() / 2);
        }
        counts.put("class_files", found);
        return size;
    }
}
