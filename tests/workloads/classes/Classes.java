import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;

/**
 * For each GO loads exactly 1,000 generated classes "gen/Class0000" to "gen/Class0999" in a loader of their own, unloads
 * them again (the loader's death is seen in a reference queue), and runs into three initialisers that throw (first GO only:
 * a class fails once).
 */
public final class Classes {
    private static final int COUNT = 1000;
    private static final String[] BROKEN = {"Classes$Broken1", "Classes$Broken2", "Classes$Broken3"};

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        collect(load(1, queue), queue);
        fail(Warm.class.getName());
        System.out.println("READY");
        int failed = 0;
        while (in.readLine() != null) {
            collect(load(COUNT, queue), queue);
            int errors = 0;
            while (failed < BROKEN.length) {
                errors += fail(BROKEN[failed++]);
            }
            System.out.println("DONE loaded=" + COUNT + " unloaded=" + COUNT + " errors=" + errors);
        }
    }

    private static Reference<Object> load(int count, ReferenceQueue<Object> queue) throws IOException {
        Loader loader = new Loader();
        for (int i = 0; i < count; i++) {
            loader.define(String.format("gen/Class%04d", i));
        }
        return new PhantomReference<>(loader, queue);
    }

    private static void collect(Reference<Object> loader, ReferenceQueue<Object> queue) throws InterruptedException {
        Reference<?> dead = null;
        while (dead == null) {
            System.gc();
            // The collector hands references over by another thread; each collection is given a while to do so.
            dead = queue.remove(100);
        }
        if (dead != loader) {
            throw new IllegalStateException("another loader died");
        }
        if (System.getProperty("java.specification.version").equals("1.8")) {
            // There such a reference keeps what it leads to until it is cleared.
            dead.clear();
            System.gc();
        }
    }

    private static int fail(String name) throws ClassNotFoundException {
        try {
            Class.forName(name);
        } catch (ExceptionInInitializerError e) {
            return 1;
        }
        return 0;
    }

    private static int broken() {
        throw new IllegalStateException("planted");
    }

    private static final class Warm {
        static final int VALUE = broken();
    }

    private static final class Broken1 {
        static final int VALUE = broken();
    }

    private static final class Broken2 {
        static final int VALUE = broken();
    }

    private static final class Broken3 {
        static final int VALUE = broken();
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(null);
        }

        void define(String name) throws IOException {
            byte[] file = empty(name);
            defineClass(null, file, 0, file.length);
        }
    }

    /** The class file of a class without members. */
    private static byte[] empty(String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0xCAFEBABE);
        out.writeInt(52);
        out.writeShort(5);
        out.writeByte(1);
        out.writeUTF(name);
        out.writeByte(7);
        out.writeShort(1);
        out.writeByte(1);
        out.writeUTF("java/lang/Object");
        out.writeByte(7);
        out.writeShort(3);
        out.writeShort(0x0021);
        out.writeShort(2);
        out.writeShort(4);
        for (int i = 0; i < 4; i++) {
            out.writeShort(0);
        }
        return bytes.toByteArray();
    }
}
