import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Reflection: methods with few and many calls behind them, constructors, and proxies. */
public final class Reflection {
    /** What the proxy pretends to be. */
    public interface Door {
        /** Opens it. */
        void open(Object key) throws Exception;
    }

    private static final Method HOT = method("target");
    private static final Method NESTED = method("nested");
    private static final Constructor<?> MAKER = Reflection.class.getDeclaredConstructors()[0];
    private static final InvocationHandler HANDLER = (proxy, method, args) -> HOT.invoke(null, args);
    private static final Door DOOR = (Door) Proxy.newProxyInstance(
        Reflection.class.getClassLoader(), new Class<?>[] {Door.class}, HANDLER);

    /** Hits the probe. */
    public Reflection(Object worker) throws Exception {
        Probe.hit((Worker) worker);
    }

    private static Method method(String name) {
        try {
            return Reflection.class.getDeclaredMethod(name, Object.class);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    static void make(Worker worker, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            for (int warm = 0; warm < 12; warm++) {
                turn(worker, warm);
            }
            worker.armed = true;
            turn(worker, worker.made);
        }
    }

    private static void turn(Worker worker, int value) throws Exception {
        switch (value % 5) {
            case 0:
                HOT.invoke(null, worker);
                break;
            case 1:
                NESTED.invoke(null, worker);
                break;
            case 2:
                MAKER.newInstance(worker);
                break;
            case 3:
                DOOR.open(worker);
                break;
            default:
                // A loader of its own: reflection that was never used before goes through native code on 11 and 17.
                fresh(worker);
                break;
        }
    }

    private static void fresh(Worker worker) throws Exception {
        if (worker.armed) {
            Class<?> copy = new Generated("Bridge").loadClass("Bridge");
            copy.getDeclaredMethod("cross", Runnable.class).invoke(null, (Runnable) () -> quiet(worker));
        }
    }

    private static void quiet(Worker worker) {
        try {
            Probe.hit(worker);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Hits the probe. */
    public static void target(Object worker) throws Exception {
        Probe.hit((Worker) worker);
    }

    /** Hits the probe through reflection within reflection. */
    public static void nested(Object worker) throws Exception {
        HOT.invoke(null, worker);
    }
}
