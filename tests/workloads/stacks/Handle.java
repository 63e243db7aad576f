import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Method handles: direct, bound, with changed arguments, guarded, and around a loop; constant ones and others. */
final class Handle {
    private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
    private static final MethodHandle DIRECT = find("target");
    private static final MethodHandle GUARDED = MethodHandles.guardWithTest(
        find("isEven"), MethodHandles.dropArguments(DIRECT, 1, int.class), find("other"));
    private static final MethodHandle FINALLY = MethodHandles.tryFinally(
        DIRECT, find("cleanup"));
    private static final MethodHandle PERMUTED = MethodHandles.permuteArguments(
        find("other"), MethodType.methodType(void.class, int.class, Worker.class), 1, 0);
    private static final MethodHandle COUNTED = MethodHandles.countedLoop(
        MethodHandles.dropArguments(MethodHandles.constant(int.class, 2), 0, Worker.class),
        null, MethodHandles.permuteArguments(
            find("other"), MethodType.methodType(void.class, int.class, Worker.class), 1, 0));

    private static MethodHandle changing = DIRECT;
    private static int sink;

    private Handle() {}

    private static MethodHandle find(String name) {
        for (java.lang.reflect.Method method : Handle.class.getDeclaredMethods()) {
            if (method.getName().equals(name)) {
                try {
                    return LOOKUP.unreflect(method);
                } catch (IllegalAccessException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
        throw new IllegalStateException(name);
    }

    static void make(Worker worker, int count) throws Exception {
        try {
            for (int i = 0; i < count; i++) {
                for (int warm = 0; warm < 28; warm++) {
                    turn(worker, warm);
                }
                worker.armed = true;
                turn(worker, worker.made);
                if (worker.armed) {
                    throw new IllegalStateException("no event");
                }
            }
        } catch (Exception e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static void turn(Worker worker, int value) throws Throwable {
        switch (value % 7) {
            case 0:
                DIRECT.invokeExact(worker);
                break;
            case 1:
                GUARDED.invokeExact(worker, value);
                break;
            case 2:
                FINALLY.invokeExact(worker);
                break;
            case 3:
                PERMUTED.invokeExact(value, worker);
                break;
            case 4:
                COUNTED.invokeExact(worker);
                break;
            case 5:
                changing = value % 2 == 0 ? DIRECT : MethodHandles.insertArguments(find("other"), 1, value);
                changing.invoke(worker);
                break;
            default:
                DIRECT.invokeWithArguments((Object) worker);
                break;
        }
    }

    private static void target(Worker worker) throws Exception {
        Probe.hit(worker);
    }

    private static void other(Worker worker, int value) throws Exception {
        sink += value;
        Probe.hit(worker);
    }

    private static boolean isEven(Worker worker, int value) {
        return value % 2 == 0;
    }

    private static void cleanup(Throwable thrown, Worker worker) {
        sink++;
    }
}
