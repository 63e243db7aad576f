import java.lang.reflect.Array;

/**
 * Objects of known classes and arrays of known lengths, all of which escape. Bytes are those of a 64-bit JVM with compressed
 * class pointers and references, as all are whose heap is below 32 GiB: a header of 12 bytes, 16 for an array, sizes in
 * multiples of 8.
 */
public final class Allocations {
    private static final int OBJECTS = 3000;
    private static final int ARRAYS = 700;
    private static final int CAPTURED = 2000;
    private static final Object[] SINK = new Object[64];
    private static long sink;
    /** Of {@link #objects}: the first one in it, from its first call. */
    private static int line;

    /** 12 bytes of header and 4 of padding. */
    static final class Empty {}

    /** Six longs: 64 bytes. */
    static final class Blob {
        long a;
        long b;
        long c;
        long d;
        long e;
        long f;
    }

    /** Two ints: 24 bytes. */
    static final class Pair implements Cloneable {
        int a;
        int b;

        Pair copy() throws CloneNotSupportedException {
            return (Pair) clone();
        }
    }

    /** Never seen by anybody: a compiler may leave it out. */
    static final class Captured {
        final int a;

        Captured(int a) {
            this.a = a;
        }
    }

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            objects();
            copies();
            arrays();
            captured();
            expectObjects(session);
            expectArrays(session);
        });
    }

    static void objects() {
        if (line == 0) line = new Throwable().getStackTrace()[0].getLineNumber();
        for (int i = 0; i < OBJECTS; i++) {
            SINK[i & 63] = new Empty();
            SINK[i & 63] = new Blob();
            SINK[i & 63] = new Pair();
        }
    }

    static void copies() throws Exception {
        Pair pair = new Pair();
        for (int i = 0; i < OBJECTS; i++) {
            SINK[i & 63] = pair.copy();
        }
    }

    static void arrays() {
        for (int i = 0; i < ARRAYS; i++) {
            SINK[i & 63] = new short[100];
            SINK[i & 63] = new Blob[10];
            SINK[i & 63] = new char[3][4];
            SINK[i & 63] = Array.newInstance(float.class, 5);
            SINK[i & 63] = new int[7];
            SINK[i & 63] = new byte[9];
            SINK[i & 63] = new Object[3];
        }
    }

    static void captured() {
        for (int i = 0; i < CAPTURED; i++) {
            sink += new Captured(i).a;
        }
    }

    private static void expectObjects(Session session) {
        made(session, "Allocations$Empty", OBJECTS, 16);
        made(session, "Allocations$Blob", OBJECTS, 64);
        made(session, "Allocations$Pair", 2 * OBJECTS + 1, 24);
        session.expect("objects_as_written", "Allocations$Captured", CAPTURED);
        session.expect("site_objects", "Allocations.objects:Allocations$Blob", OBJECTS);
        session.expect("site_objects", "Allocations.copies:Allocations$Pair", 1);
        session.expect("site_line", "Allocations.objects:Allocations$Empty", line + 2);
        session.expect("site_line", "Allocations.objects:Allocations$Blob", line + 3);
        session.expect("site_line", "Allocations.objects:Allocations$Pair", line + 4);
    }

    private static void expectArrays(Session session) {
        made(session, "short[]", ARRAYS, array(100, 2));
        made(session, "Allocations$Blob[]", ARRAYS, array(10, 4));
        made(session, "char[][]", ARRAYS, array(3, 4));
        session.expect("site_objects", "Allocations.arrays:char[]", 3 * ARRAYS);
        session.expect("site_bytes", "Allocations.arrays:char[]", 3 * ARRAYS * array(4, 2));
        made(session, "float[]", ARRAYS, array(5, 4));
        made(session, "int[]", ARRAYS, array(7, 4));
        made(session, "byte[]", ARRAYS, array(9, 1));
        made(session, "java.lang.Object[]", ARRAYS, array(3, 4));
        session.expect("lengths", "short[]:100", ARRAYS);
    }

    private static void made(Session session, String of, long objects, long bytes) {
        session.expect("objects", of, objects);
        session.expect("bytes", of, objects * bytes);
    }

    private static long array(long length, long element) {
        return (16 + length * element + 7) / 8 * 8;
    }
}
