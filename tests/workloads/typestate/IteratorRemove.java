import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.TreeSet;

/** Iterators that remove each element once, and some that remove it twice or before there is one. */
public final class IteratorRemove {
    private static long sum;

    private IteratorRemove() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "IteratorRemove", IteratorRemove::good, IteratorRemove::bad);
    }

    private static void good(Protocol protocol) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            for (Collection<Integer> collection : collections()) {
                for (Iterator<Integer> elements = collection.iterator(); elements.hasNext();) {
                    if (elements.next() % 2 == 0) {
                        elements.remove();
                    }
                }
            }
            Iterator<Integer> all = collections().get(0).iterator();
            all.forEachRemaining(element -> sum += element);
            all.remove();
        }
    }

    private static void bad(Protocol protocol) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            for (Collection<Integer> collection : collections()) {
                Iterator<Integer> twice = collection.iterator();
                sum += twice.next();
                twice.remove();
                refused(twice);
                refused(collection.iterator());
                protocol.illegal(2);
            }
        }
    }

    private static void refused(Iterator<Integer> elements) {
        try {
            elements.remove();
            Protocol.unreachable("removed");
        } catch (IllegalStateException expected) {
            sum++;
        }
    }

    private static List<Collection<Integer>> collections() {
        List<Integer> all = List.of(1, 2, 3, 4, 5, 6);
        HashMap<Integer, Integer> map = new HashMap<>();
        all.forEach(element -> map.put(element, element));
        return List.of(new ArrayList<>(all), new LinkedList<>(all), new TreeSet<>(all), map.keySet());
    }
}
