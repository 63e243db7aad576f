import java.lang.reflect.Method;

/** Sunflow: the picture of its own benchmark, a room of mirrors and glass, by a thread for each CPU. */
final class Rays implements Programs.Program {
    private final Class<?> benchmarks = Class.forName("org.sunflow.Benchmark");

    Rays() throws ClassNotFoundException {}

    @Override
    public long round() throws Exception {
        // Told to keep the picture it asks for no other to compare with; the step that would keep it is left out.
        Object benchmark = benchmarks.getConstructor(int.class, boolean.class, boolean.class, boolean.class)
            .newInstance(128, false, false, true);
        for (String step : new String[] {"kernelBegin", "kernelMain"}) {
            Method method = benchmarks.getMethod(step);
            method.invoke(benchmark);
        }
        return 0;
    }
}
