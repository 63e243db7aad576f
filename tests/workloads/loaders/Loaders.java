import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * The class {@link Copied} in several loaders. With "three" there are two of them before the first line on stdin, and a third one comes
 * then, besides a hidden class where the JVM has such; with "many" some threads load one after another until then. Then DONE, and how often
 * the class's method was called.
 */
public final class Loaders {
    private static final int LOADERS = 2;
    /** So many at most, for tests that are slow to come. */
    private static final int MOST = 2000;

    /** Has its own copy, and asks nobody else for it. */
    private static final class Own extends ClassLoader {
        private final byte[] bytes;

        Own(byte[] bytes) {
            super(Loaders.class.getClassLoader());
            this.bytes = bytes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Copied")) {
                return super.loadClass(name, resolve);
            }
            synchronized (this) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : defineClass(name, bytes, 0, bytes.length);
            }
        }
    }

    private static volatile boolean isOver;

    private Loaders() {}

    public static void main(String[] args) throws Exception {
        byte[] bytes;
        try (InputStream in = Loaders.class.getResourceAsStream("Copied.class")) {
            bytes = in.readAllBytes();
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        if (args[0].equals("three")) {
            three(bytes, in);
        } else {
            many(bytes, in);
        }
        // Until stdin ends.
        in.readLine();
    }

    private static void three(byte[] bytes, BufferedReader in) throws Exception {
        Runnable first = copy(bytes);
        Runnable second = copy(bytes);
        second.run();
        System.out.println("READY");
        in.readLine();
        Runnable third = copy(bytes);
        int[] calls = {1000, 200, 30};
        for (Runnable copy : new Runnable[] {first, second, third}) {
            for (int i = 0; i < calls[copy == first ? 0 : copy == second ? 1 : 2]; i++) {
                copy.run();
            }
        }
        hidden(bytes);
        System.out.println("expected calls Copied.once 1230");
        System.out.println("DONE expected=1");
    }

    private static void many(byte[] bytes, BufferedReader in) throws Exception {
        List<Runnable> copies = new ArrayList<>();
        Thread[] loading = new Thread[LOADERS];
        for (int i = 0; i < LOADERS; i++) {
            loading[i] = new Thread(() -> load(bytes, copies));
            loading[i].start();
        }
        System.out.println("READY");
        in.readLine();
        isOver = true;
        for (Thread thread : loading) {
            thread.join();
        }
        for (Runnable copy : copies) {
            copy.run();
        }
        System.out.println("expected calls Copied.once " + copies.size());
        System.out.println("DONE expected=1");
    }

    private static void load(byte[] bytes, List<Runnable> copies) {
        for (int i = 0; i < MOST && !isOver; i++) {
            try {
                Runnable copy = copy(bytes);
                synchronized (copies) {
                    copies.add(copy);
                }
                // The JVM needs the longer for each exchange, the more classes it has.
                Thread.sleep(1);
            } catch (ReflectiveOperationException | InterruptedException broken) {
                throw new IllegalStateException(broken);
            }
        }
    }

    private static Runnable copy(byte[] bytes) throws ReflectiveOperationException {
        Class<?> own = new Own(bytes).loadClass("Copied", false);
        return (Runnable) own.getConstructor().newInstance();
    }

    /** A hidden class of the same bytes, called some times; programs are compiled for a release that has none. */
    private static void hidden(byte[] bytes) throws Exception {
        Class<?> options;
        try {
            options = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
        } catch (ClassNotFoundException none) {
            return;
        }
        Object no = Array.newInstance(options, 0);
        Method define =
            MethodHandles.Lookup.class.getMethod("defineHiddenClass", byte[].class, boolean.class, no.getClass());
        MethodHandles.Lookup lookup = (MethodHandles.Lookup) define.invoke(MethodHandles.lookup(), bytes, true, no);
        Runnable hidden = (Runnable) lookup.lookupClass().getConstructor().newInstance();
        for (int i = 0; i < 5; i++) {
            hidden.run();
        }
    }
}
