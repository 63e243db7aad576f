import java.security.AccessController;
import java.security.PrivilegedActionException;
import java.security.PrivilegedExceptionAction;

/** From Java through the JVM's native code back into Java: class initialisers and privileged actions, also nested. */
@SuppressWarnings("removal")
public final class Upcall {
    /** What the next class initialiser of this thread calls. */
    static final ThreadLocal<Runnable> CALLBACK = new ThreadLocal<>();

    private static int classes;

    private Upcall() {}

    static void make(Worker worker, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            for (int warm = 0; warm < 20; warm++) {
                privileged(worker, 1);
            }
            worker.armed = true;
            switch (worker.made % 3) {
                case 0:
                    privileged(worker, 2);
                    break;
                case 1:
                    initialized(worker);
                    break;
                default:
                    privileged(worker, -1);
                    break;
            }
        }
    }

    /** Levels above 0 are further privileged actions; below 0, the innermost is a class initialiser. */
    private static Object privileged(Worker worker, int levels) throws Exception {
        try {
            return AccessController.doPrivileged((PrivilegedExceptionAction<Object>) () -> {
                if (levels > 1) {
                    privileged(worker, levels - 1);
                } else if (levels < 0) {
                    initialized(worker);
                } else {
                    Probe.hit(worker);
                }
                return null;
            });
        } catch (PrivilegedActionException e) {
            throw e.getException();
        }
    }

    private static void initialized(Worker worker) throws Exception {
        String name = worker.label + "Initialized" + next();
        worker.loader.define(name, Generated.withInitializer(name));
        CALLBACK.set(() -> quiet(worker));
        Class.forName(name, true, worker.loader);
    }

    private static void quiet(Worker worker) {
        try {
            Probe.hit(worker);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static synchronized int next() {
        return classes++;
    }

    /** Called by generated classes. */
    public static void fromInitializer() {
        CALLBACK.get().run();
    }
}
