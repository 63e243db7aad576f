import java.util.ArrayList;
import java.util.LinkedList;
import java.util.List;
import java.util.ListIterator;

/** List iterators that replace what they returned last, and some that have nothing to replace. */
public final class ListIteratorSet {
    private static long sum;

    private ListIteratorSet() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "ListIteratorSet", ListIteratorSet::good, ListIteratorSet::bad);
    }

    private static void good(Protocol protocol) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            for (List<Integer> list : lists()) {
                ListIterator<Integer> elements = list.listIterator();
                elements.add(0);
                while (elements.hasNext()) {
                    elements.set(elements.next() + 1);
                    elements.set(7);
                }
                elements.previous();
                elements.remove();
                elements.add(8);
                elements.add(9);
                sum += elements.previous();
                elements.set(10);
            }
        }
    }

    private static void bad(Protocol protocol) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            for (List<Integer> list : lists()) {
                refused(list.listIterator());
                ListIterator<Integer> added = list.listIterator();
                sum += added.next();
                added.add(5);
                refused(added);
                ListIterator<Integer> removed = list.listIterator();
                sum += removed.next();
                removed.remove();
                refused(removed);
                protocol.illegal(3);
            }
        }
    }

    private static void refused(ListIterator<Integer> elements) {
        try {
            elements.set(1);
            Protocol.unreachable("replaced");
        } catch (IllegalStateException expected) {
            sum++;
        }
    }

    private static List<List<Integer>> lists() {
        return List.of(new ArrayList<>(List.of(1, 2, 3)), new LinkedList<>(List.of(1, 2, 3)));
    }
}
