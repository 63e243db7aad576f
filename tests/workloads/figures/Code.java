import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Method;

/**
 * Much compiled code: classes of a hundred methods each, made here and each called once. {@code Code <classes>}; to be
 * run with {@code -Xcomp -XX:TieredStopAtLevel=1}, so that a method is compiled when it is called first. Then it sleeps a
 * little for each line.
 */
public final class Code extends ClassLoader {
    private static final int METHODS = 100;
    /** Repetitions of some bytecodes in each method. */
    private static final int STEPS = 30;
    /** a[i] += mix(v); i++. */
    private static final int[] STEP = {0x2a, 0x1b, 0x5c, 0x2f, 0x20, 0xb8, 0, 11, 0x61, 0x50, 0x84, 1, 1};

    public static void main(String[] args) throws Exception {
        int classes = Integer.parseInt(args[0]);
        Code loader = new Code();
        long[] numbers = new long[STEPS];
        for (int i = 0; i < classes; i++) {
            byte[] code = code("generated/Part" + i);
            Class<?> made = loader.defineClass(null, code, 0, code.length);
            Method all = made.getMethod("all", long[].class);
            all.invoke(null, (Object) numbers);
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            Thread.sleep(1);
            System.out.println("DONE sum=" + (numbers[0] & 0xff));
        }
    }

    /** Called by all generated methods. */
    public static long mix(long value) {
        return (value ^ value >>> 7) * 31;
    }

    private static byte[] code(String name) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0xcafebabe);
        out.writeInt(52);
        // 13 constants, a descriptor, the methods' names and how to call them (name, name and type, method).
        out.writeShort(14 + 3 * METHODS + 1);
        text(out, name);
        entry(out, 7, 1);
        text(out, "java/lang/Object");
        entry(out, 7, 3);
        text(out, "Code");
        text(out, "all");
        text(out, "([J)V");
        text(out, "mix");
        text(out, "(J)J");
        entry(out, 12, 8, 9);
        entry(out, 10, 12, 10);
        entry(out, 7, 5);
        text(out, "([JIJ)V");
        text(out, "unused");
        for (int i = 0; i < METHODS; i++) {
            text(out, "part" + i);
            entry(out, 12, 15 + 3 * i, 13);
            entry(out, 10, 2, 16 + 3 * i);
        }
        // Public and super; this class, its superclass; no interfaces, no fields.
        for (int word : new int[] {0x21, 2, 4, 0, 0, METHODS + 1}) {
            out.writeShort(word);
        }
        all(out);
        for (int i = 0; i < METHODS; i++) {
            method(out, 15 + 3 * i, 13, 4 + 8, 4, STEP.length * STEPS + 1);
            for (int j = 0; j < STEPS; j++) {
                for (int code : STEP) {
                    out.writeByte(code);
                }
            }
            end(out);
        }
        out.writeShort(0);
        return bytes.toByteArray();
    }

    /** The method that calls all others: part(a, 0, 1). */
    private static void all(DataOutputStream out) throws IOException {
        method(out, 6, 7, 4, 1, 6 * METHODS + 1);
        for (int i = 0; i < METHODS; i++) {
            for (int code : new int[] {0x2a, 0x03, 0x0a, 0xb8}) {
                out.writeByte(code);
            }
            out.writeShort(17 + 3 * i);
        }
        end(out);
    }

    /** Public and static; name, descriptor; one attribute: Code (the constant 5). */
    private static void method(DataOutputStream out, int name, int descriptor, int stack, int locals, int length)
            throws IOException {
        for (int word : new int[] {9, name, descriptor, 1, 5}) {
            out.writeShort(word);
        }
        out.writeInt(12 + length);
        out.writeShort(stack);
        out.writeShort(locals);
        out.writeInt(length);
    }

    private static void end(DataOutputStream out) throws IOException {
        out.writeByte(0xb1);
        out.writeInt(0);
    }

    private static void text(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    private static void entry(DataOutputStream out, int tag, int... indices) throws IOException {
        out.writeByte(tag);
        for (int index : indices) {
            out.writeShort(index);
        }
    }
}
