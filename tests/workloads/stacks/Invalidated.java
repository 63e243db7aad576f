import java.util.function.BiConsumer;

/**
 * Compiled frames whose code is thrown away while they are on the stack, because a class is loaded that they were compiled
 * without: the probe is hit with such frames further out. Each turn uses a copy of {@link Family} of its own.
 */
final class Invalidated {
    private static final int WARM = 6000;

    private Invalidated() {}

    @SuppressWarnings("unchecked")
    static void make(Worker worker, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            Generated loader = new Generated("Family");
            BiConsumer<Runnable, Integer> family = (BiConsumer<Runnable, Integer>) loader.loadClass("Family")
                .getDeclaredConstructor().newInstance();
            Runnable nothing = () -> quiet(worker);
            for (int warm = 0; warm < WARM; warm++) {
                family.accept(nothing, 5);
            }
            worker.armed = true;
            family.accept(() -> {
                initialize(loader);
                quiet(worker);
            }, 5);
        }
    }

    private static void initialize(Generated loader) {
        try {
            Class.forName("Family$Late", true, loader);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void quiet(Worker worker) {
        try {
            Probe.hit(worker);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
