import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.StringTokenizer;
import java.util.Vector;

/** Enumerations that are asked before each element, and some that are not. */
public final class HasMoreElements {
    private static int length;

    private HasMoreElements() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "HasMoreElements", HasMoreElements::good, HasMoreElements::bad);
    }

    private static void good(Protocol protocol) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            for (Enumeration<String> all = Collections.enumeration(words()); all.hasMoreElements();) {
                length += all.nextElement().length();
            }
            for (Enumeration<String> all = words().elements(); all.hasMoreElements();) {
                length += all.nextElement().length();
            }
            for (StringTokenizer all = new StringTokenizer("a b c"); all.hasMoreTokens();) {
                length += all.nextToken().length();
            }
        }
    }

    private static void bad(Protocol protocol) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            Enumeration<String> all = words().elements();
            if (all.hasMoreElements()) {
                length += all.nextElement().length() + all.nextElement().length();
            }
            protocol.illegal(1);
            length += ((String) new StringTokenizer("a b c").nextElement()).length();
            protocol.illegal(1);
        }
    }

    private static Vector<String> words() {
        return new Vector<>(List.of("a", "bc", "def"));
    }
}
