import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.FutureTask;

/**
 * For each GO, as many exceptions of every kind as the argument says, each caught at a place that is known: by another method after
 * {@code finally} and {@code synchronized} let it through, around {@code try} with resources in the same method, not by the clause beside
 * the one that throws it again, by one that ignores it, by the JDK, in native code, in a static initialiser, and by nobody.
 *
 * <p>The lines of the clauses are printed: each asks for its own.
 */
public final class Handlers {
    private static final Object LOCK = new Object();
    private static Object sink;
    private static int[] lines = new int[8];

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            for (int i = 0; i < count; i++) {
                passed();
                closed();
                beside();
                ignored();
                new FutureTask<Object>(() -> fail(new InTask())).run();
                reflected();
                Thread dying = new Thread(Handlers::die, "dying");
                dying.setUncaughtExceptionHandler((thread, failure) -> {});
                dying.start();
                dying.join();
            }
            initialised();
            System.out.println("DONE count=" + count + " passed=" + lines[0] + " closed=" + lines[1] + " beside=" + lines[2]
                    + " ignored=" + lines[3] + " reflected=" + lines[4]);
        }
    }

    /** The line of whoever calls this, as a clause does: the clause begins one line above. */
    private static int here() {
        return new Throwable().getStackTrace()[1].getLineNumber();
    }

    private static <T> T fail(Exception failure) throws Exception {
        throw failure;
    }

    private static void passed() {
        try {
            cleaning();
        } catch (Passed expected) {
            lines[0] = here() - 1;
            sink = expected;
        }
    }

    private static void cleaning() throws Passed {
        try {
            locking();
        } finally {
            sink = null;
        }
    }

    private static void locking() throws Passed {
        synchronized (LOCK) {
            throw new Passed();
        }
    }

    private static void closed() {
        try (Resource resource = new Resource()) {
            sink = resource;
            throw new Closed();
        } catch (Closed expected) {
            lines[1] = here() - 1;
            sink = expected;
        }
    }

    private static void beside() {
        try {
            rethrowing();
        } catch (Exception expected) {
            lines[2] = here() - 1;
            sink = expected;
        }
    }

    private static void rethrowing() throws Beside {
        try {
            throw new Beside();
        } catch (Beside again) {
            throw again;
        } catch (Exception never) {
            sink = never;
        }
    }

    private static void ignored() {
        int before = lines[3];
        try {
            throw new Ignored();
        } catch (Ignored nobody) {
            lines[3] = before == 0 ? here() - 1 : before;
        }
    }

    private static void reflected() throws Exception {
        try {
            Handlers.class.getDeclaredMethod("refusing").invoke(null);
        } catch (java.lang.reflect.InvocationTargetException expected) {
            lines[4] = here() - 1;
            sink = expected;
        }
    }

    static void refusing() throws Refusing {
        throw new Refusing();
    }

    private static void initialised() {
        try {
            sink = Broken.VALUE;
        } catch (ExceptionInInitializerError | NoClassDefFoundError expected) {
            sink = expected;
        }
    }

    private static void die() {
        throw new Dying();
    }

    private static final class Resource implements AutoCloseable {
        @Override
        public void close() {
            sink = null;
        }
    }

    private static final class Broken {
        static final Object VALUE;

        static {
            if (sink != LOCK) {
                throw new Initial();
            }
            VALUE = LOCK;
        }
    }

    private static class Passed extends Exception {}

    private static class Closed extends Exception {}

    private static class Beside extends Exception {}

    private static class Ignored extends Exception {}

    private static class InTask extends Exception {}

    private static class Refusing extends Exception {}

    private static class Dying extends RuntimeException {}

    private static class Initial extends RuntimeException {}
}
