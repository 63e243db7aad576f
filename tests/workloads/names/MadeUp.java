import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Arrays;

/**
 * For each GO a thousand classes and a thousand threads with names of a kilobyte that were never there before: what a watcher keeps
 * of each name adds up. Each class is made an object of. Loaders and threads go again, so that this JVM itself does not grow.
 */
public final class MadeUp {
    private static final int CLASSES = 1_000;
    private static final int THREADS = 1_000;
    private static final char[] FILL = new char[1_000];
    private static int number;
    private static Object last;

    public static void main(String[] args) throws Exception {
        Arrays.fill(FILL, 'x');
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            Loader loader = new Loader();
            for (int i = 0; i < CLASSES; i++) {
                last = loader.define(made()).getDeclaredConstructor().newInstance();
            }
            for (int i = 0; i < THREADS; i++) {
                Thread thread = new Thread(null, MadeUp::nothing, made());
                thread.start();
                thread.join();
            }
            System.out.println("DONE classes=" + CLASSES + " threads=" + THREADS);
        }
    }

    private static void nothing() {
        last = null;
    }

    /** The number comes first: what is cut at the end differs all the same. */
    private static String made() {
        return "Made" + number++ + new String(FILL);
    }

    private static final class Loader extends ClassLoader {
        Class<?> define(String name) throws IOException {
            byte[] bytes = file(name);
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    /** A class file with a constructor that calls that of Object. */
    private static byte[] file(String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0xCAFEBABE);
        out.writeInt(52);
        out.writeShort(10);
        utf8(out, name);
        reference(out, 7, 1);
        utf8(out, "java/lang/Object");
        reference(out, 7, 3);
        utf8(out, "<init>");
        utf8(out, "()V");
        utf8(out, "Code");
        pair(out, 12, 5, 6);
        pair(out, 10, 4, 8);
        int[] head = {0x21, 2, 4, 0, 0, 1, 1, 5, 6, 1, 7};
        for (int value : head) {
            out.writeShort(value);
        }
        out.writeInt(17);
        out.writeShort(1);
        out.writeShort(1);
        out.writeInt(5);
        // aload_0, invokespecial Object.<init>, return.
        out.write(new byte[] {0x2a, (byte) 0xb7, 0, 9, (byte) 0xb1});
        out.writeShort(0);
        out.writeShort(0);
        out.writeShort(0);
        out.flush();
        return bytes.toByteArray();
    }

    private static void utf8(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    private static void reference(DataOutputStream out, int tag, int index) throws IOException {
        out.writeByte(tag);
        out.writeShort(index);
    }

    private static void pair(DataOutputStream out, int tag, int first, int second) throws IOException {
        reference(out, tag, first);
        out.writeShort(second);
    }
}
