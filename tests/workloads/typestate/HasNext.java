import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Iterators that are asked before each element, of several classes, also where one of them is used as an enumeration; and iterators that
 * are asked once for two elements. One class of iterators has two methods next(), of which the one that the compiler made calls the other.
 */
public final class HasNext {
    private static final int ELEMENTS = 10;
    private static long sum;

    /** Through the interface next() is a bridge, which calls the one that is written here: one call all the same. */
    private static final class Countdown implements Iterator<Integer> {
        private int left = ELEMENTS;

        @Override
        public boolean hasNext() {
            return left > 0;
        }

        @Override
        public Integer next() {
            left--;
            return left;
        }
    }

    private HasNext() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "HasNext", HasNext::good, HasNext::bad);
    }

    private static void good(Protocol protocol) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            for (Map<Integer, Integer> map : maps()) {
                for (Iterator<Integer> keys = map.keySet().iterator(); keys.hasNext();) {
                    sum += keys.next();
                }
                map.values().iterator().hasNext();
            }
            for (Iterator<Integer> down = new Countdown(); down.hasNext();) {
                sum += down.next();
            }
            for (Integer element : list()) {
                sum += element;
            }
            for (var keys = ((ConcurrentHashMap<Integer, Integer>) filled(new ConcurrentHashMap<>())).keys(); keys.hasMoreElements();) {
                sum += keys.nextElement();
            }
        }
    }

    /** The second next() is illegal; the third is one of an object that was reported already. */
    private static void bad(Protocol protocol) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            Iterator<Integer> elements = list().iterator();
            if (elements.hasNext()) {
                sum += elements.next() + elements.next() + elements.next();
            }
            protocol.illegal(1);
            Iterator<Integer> down = new Countdown();
            sum += down.next();
            protocol.illegal(1);
            for (Map<Integer, Integer> map : maps()) {
                Iterator<Integer> keys = map.keySet().iterator();
                sum += keys.next();
                protocol.illegal(1);
            }
        }
    }

    private static Collection<Map<Integer, Integer>> maps() {
        Collection<Map<Integer, Integer>> maps = new ArrayList<>();
        maps.add(filled(new HashMap<>()));
        maps.add(filled(new LinkedHashMap<>()));
        maps.add(filled(new TreeMap<>()));
        maps.add(filled(new ConcurrentHashMap<>()));
        return maps;
    }

    private static Map<Integer, Integer> filled(Map<Integer, Integer> map) {
        for (int i = 0; i < ELEMENTS; i++) {
            map.put(i, i);
        }
        return map;
    }

    private static Collection<Integer> list() {
        Collection<Integer> list = new ArrayList<>();
        for (int i = 0; i < ELEMENTS; i++) {
            list.add(i);
        }
        return list;
    }
}
