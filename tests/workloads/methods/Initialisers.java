import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Everything that initialises a class (JVMS 5.5), and what looks like it and does not. A class is initialised once in the life
 * of a JVM, so only the first GO has them.
 */
public final class Initialisers {
    private static int sink;
    private static boolean done;

    static final class ByNew {
        static {
            sink++;
        }
    }

    static final class ByCall {
        static {
            sink++;
        }

        static void call() {
            sink++;
        }
    }

    static final class ByGet {
        static int field;

        static {
            field = 3;
        }
    }

    static final class ByPut {
        static int field;

        static {
            sink++;
        }
    }

    static final class ByName {
        static {
            sink++;
        }
    }

    static final class ByHandle {
        static {
            sink++;
        }

        static void call() {
            sink++;
        }
    }

    static class Super {
        static {
            sink++;
        }
    }

    static final class Sub extends Super {
        static {
            sink++;
        }
    }

    interface WithDefault {
        Object MADE = made();

        default void act() {}
    }

    static final class Implementor implements WithDefault {
        static {
            sink++;
        }
    }

    static final class NotByConstant {
        static final int CONSTANT = 42;

        static {
            sink++;
        }
    }

    static final class NotByArray {
        static {
            sink++;
        }
    }

    static final class Failing {
        static {
            if (sink > 0) {
                throw new IllegalStateException("expected");
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            int times = done ? 0 : 1;
            if (!done) {
                done = true;
                work();
            }
            for (String name : new String[] {"ByNew", "ByCall", "ByGet", "ByPut", "ByName", "ByHandle", "Super", "Sub",
                    "WithDefault", "Implementor", "Failing"}) {
                session.expect("calls", "Initialisers$" + name + ".<clinit>", times);
            }
            for (String name : new String[] {"NotByConstant", "NotByArray"}) {
                session.expect("calls", "Initialisers$" + name + ".<clinit>", 0);
            }
            for (String name : new String[] {"ByNew", "ByCall", "ByGet", "ByPut", "Super", "Sub", "WithDefault", "Implementor"}) {
                session.expect("edge", "Initialisers.by->Initialisers$" + name + ".<clinit>", times);
            }
            for (String name : new String[] {"ByNew", "Super", "Sub", "WithDefault", "Implementor", "Failing"}) {
                session.expect("trigger", "new:Initialisers$" + name + ".<clinit>", times);
            }
            session.expect("trigger", "invokestatic:Initialisers$ByCall.<clinit>", times);
            session.expect("trigger", "getstatic:Initialisers$ByGet.<clinit>", times);
            session.expect("trigger", "putstatic:Initialisers$ByPut.<clinit>", times);
            session.expect("errors", "Initialisers$Failing.<clinit>", times);
        });
    }

    static void work() throws Exception {
        by();
        Class.forName("Initialisers$ByName");
        MethodHandle handle =
            MethodHandles.lookup().findStatic(ByHandle.class, "call", MethodType.methodType(void.class));
        try {
            handle.invokeExact();
        } catch (Throwable impossible) {
            throw new AssertionError(impossible);
        }
        try {
            new Failing();
        } catch (ExceptionInInitializerError expected) {
            sink++;
        }
    }

    /** The triggers that are instructions of this method. */
    static void by() {
        new ByNew();
        ByCall.call();
        sink += ByGet.field;
        ByPut.field = 1;
        new Sub();
        new Implementor();
        sink += NotByConstant.CONSTANT;
        sink += new NotByArray[3].length;
        sink += NotByArray.class.getModifiers();
    }

    static Object made() {
        return new Object();
    }
}
