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
 * are asked once for two elements.
 */
public final class HasNext {
    private static final int ELEMENTS = 10;
    private static long sum;

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
