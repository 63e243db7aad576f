import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Iterators that are asked at least once before the first element, and iterators that never are. */
public final class HasNextOnce {
    private static final int ELEMENTS = 10;
    private static long sum;

    private HasNextOnce() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "HasNextOnce", HasNextOnce::good, HasNextOnce::bad);
    }

    private static void good(Protocol protocol) {
        List<Integer> list = list();
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            Iterator<Integer> elements = list.iterator();
            if (elements.hasNext()) {
                for (int at = 0; at < ELEMENTS; at++) {
                    sum += elements.next();
                }
            }
        }
    }

    private static void bad(Protocol protocol) {
        List<Integer> list = list();
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            Iterator<Integer> elements = list.iterator();
            sum += elements.next();
            while (elements.hasNext()) {
                sum += elements.next();
            }
            protocol.illegal(1);
        }
    }

    private static List<Integer> list() {
        List<Integer> list = new ArrayList<>();
        for (int i = 0; i < ELEMENTS; i++) {
            list.add(i);
        }
        return list;
    }
}
