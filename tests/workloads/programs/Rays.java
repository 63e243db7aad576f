import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;

/** Sunflow: the picture of its own benchmark, a room of mirrors and glass, by a thread for each CPU. */
final class Rays implements Programs.Program {
    private final Class<?> benchmarks = Class.forName("org.sunflow.Benchmark");

    Rays() throws Exception {
        Files.createDirectories(Paths.get("resources"));
    }

    @Override
    public long round() throws Exception {
        // Told to keep the picture, below the current folder, it asks for no other one to compare with.
        Object benchmark = benchmarks.getConstructor(int.class, boolean.class, boolean.class, boolean.class)
            .newInstance(128, false, false, true);
        for (String step : new String[] {"kernelBegin", "kernelMain"}) {
            Method method = benchmarks.getMethod(step);
            method.invoke(benchmark);
        }
        return 0;
    }
}
