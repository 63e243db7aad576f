import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Methods that are called by reflection, by a method handle and through a proxy, and a native method, a known number of times. */
public final class Reflection {
    private static final int CALLS = 1000;
    private static final int[] FROM = {1, 2, 3};
    private static final int[] TO = new int[3];
    private static int sink;

    interface Action {
        void act();
    }

    /** What reflection makes. */
    static final class Made {
        Made() {
            sink++;
        }
    }

    public static void main(String[] args) throws Exception {
        Method method = Reflection.class.getDeclaredMethod("reflected");
        Constructor<Made> constructor = Made.class.getDeclaredConstructor();
        MethodHandle handle =
            MethodHandles.lookup().findStatic(Reflection.class, "handled", MethodType.methodType(void.class));
        Action action = (Action) Proxy.newProxyInstance(
            Reflection.class.getClassLoader(), new Class<?>[] {Action.class}, (proxy, called, arguments) -> {
                proxied();
                return null;
            });
        Session.serve(session -> {
            for (int i = 0; i < CALLS; i++) {
                method.invoke(null);
                constructor.newInstance();
                exactly(handle);
                action.act();
                copied();
            }
            session.expect("calls", "Reflection.reflected", CALLS);
            session.expect("calls", "Reflection$Made.<init>", CALLS);
            session.expect("objects", "Reflection$Made", CALLS);
            session.expect("calls", "Reflection.handled", CALLS);
            session.expect("calls", "Reflection.proxied", CALLS);
            session.expect("calls", "Reflection.copied", CALLS);
            session.expect("edge", "Reflection.exactly->Reflection.handled", CALLS);
            session.expect("edge", "Reflection.copied->java.lang.System.arraycopy", CALLS);
        });
    }

    static void exactly(MethodHandle handle) {
        try {
            handle.invokeExact();
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
    }

    static void reflected() {
        sink++;
    }

    static void handled() {
        sink++;
    }

    static void proxied() {
        sink++;
    }

    /** The callee is native. */
    static void copied() {
        System.arraycopy(FROM, 0, TO, 0, 3);
    }
}
