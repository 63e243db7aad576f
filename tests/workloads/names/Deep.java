import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

/**
 * A hundred threads that stand still, each below a thousand calls of a method whose name and class have four thousand letters each: what
 * a watcher keeps of each frame adds up to more than a gigabyte. They end with the input.
 */
public final class Deep {
    private static final int THREADS = 100;
    private static final int CALLS = 1_000;
    private static final CountDownLatch there = new CountDownLatch(THREADS);
    private static final CountDownLatch over = new CountDownLatch(1);

    public static void main(String[] args) throws Exception {
        char[] fill = new char[4_000];
        Arrays.fill(fill, 'x');
        String text = new String(fill);
        Method deep = new Loader().define("D" + text, "m" + text).getMethod("m" + text, int.class);
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(null, () -> call(deep), "deep-" + i, 16 << 20);
            thread.setDaemon(true);
            thread.start();
        }
        there.await();
        System.out.println("READY");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            System.out.println("DONE threads=" + THREADS);
        }
        over.countDown();
    }

    private static void call(Method deep) {
        try {
            deep.invoke(null, CALLS);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Called at the bottom of each stack. */
    public static void hold() {
        there.countDown();
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(Deep.class.getClassLoader());
        }

        Class<?> define(String name, String method) throws IOException {
            byte[] bytes = file(name, method);
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    /** A class file with one method, which calls itself as often as its argument says, and then hold. */
    private static byte[] file(String name, String method) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0xCAFEBABE);
        // Of this version no frames are asked for.
        out.writeInt(49);
        out.writeShort(16);
        utf8(out, name);
        pair(out, 7, 1);
        utf8(out, "java/lang/Object");
        pair(out, 7, 3);
        utf8(out, method);
        utf8(out, "(I)V");
        utf8(out, "Code");
        pair(out, 12, 5, 6);
        pair(out, 10, 2, 8);
        utf8(out, "Deep");
        pair(out, 7, 10);
        utf8(out, "hold");
        utf8(out, "()V");
        pair(out, 12, 12, 13);
        pair(out, 10, 11, 14);
        int[] head = {0x21, 2, 4, 0, 0, 1, 9, 5, 6, 1, 7};
        for (int value : head) {
            out.writeShort(value);
        }
        out.writeInt(27);
        out.writeShort(2);
        out.writeShort(1);
        out.writeInt(15);
        // iload_0, ifeq, iload_0, iconst_1, isub, invokestatic itself, return, invokestatic hold, return.
        int[] code = {0x1a, 0x99, 0, 10, 0x1a, 0x04, 0x64, 0xb8, 0, 9, 0xb1, 0xb8, 0, 15, 0xb1};
        for (int value : code) {
            out.writeByte(value);
        }
        out.writeShort(0);
        out.writeShort(0);
        out.writeShort(0);
        return bytes.toByteArray();
    }

    private static void utf8(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    private static void pair(DataOutputStream out, int tag, int... numbers) throws IOException {
        out.writeByte(tag);
        for (int number : numbers) {
            out.writeShort(number);
        }
    }
}
