import java.util.zip.CRC32;

/**
 * Calls of methods of the JDK that the JVM has code of its own for. Each is called as often as written here; how many of these
 * calls enter the method is the JVM's business, and differs by what runs the code.
 */
public final class Intrinsics {
    private static final int CALLS = 3000;
    private static final byte[] FROM = new byte[8];
    private static final byte[] TO = new byte[8];
    private static final String TEXT = "text";
    private static final Object OBJECT = new Object();
    private static long sink;
    private static double sum;

    public static void main(String[] args) throws Exception {
        CRC32 crc = new CRC32();
        Session.serve(session -> {
            for (int i = 0; i < CALLS; i++) {
                calls(i, crc);
            }
            session.expect("calls", "Intrinsics.calls", CALLS);
            for (String name : new String[] {"java.lang.Math.max", "java.lang.Math.sqrt", "java.lang.String.length",
                    "java.lang.System.arraycopy", "java.lang.Integer.bitCount", "java.lang.System.identityHashCode",
                    "java.lang.Object.getClass", "java.util.zip.CRC32.update"}) {
                session.expect("written", name, CALLS);
            }
        });
    }

    static void calls(int i, CRC32 crc) {
        sink += Math.max(i, 7);
        sum += Math.sqrt(i);
        sink += TEXT.length();
        System.arraycopy(FROM, 0, TO, 0, 8);
        sink += Integer.bitCount(i);
        sink += System.identityHashCode(OBJECT);
        sink += OBJECT.getClass() == Object.class ? 1 : 0;
        crc.update(i);
    }
}
