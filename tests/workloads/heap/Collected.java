import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;

/** Collections of which it is known what they hold, though none of them knows it itself: each in a field of its own. */
public class Collected {
    static class Order {
        final List<Line> lines = new ArrayList<>();
        final Set<Object> tags = new HashSet<>();
    }

    static class Line {
    }

    /** All in the same place of a table. */
    static class Key implements Comparable<Key> {
        final int number;

        Key(int number) {
            this.number = number;
        }

        @Override
        public int hashCode() {
            return 7;
        }

        @Override
        public int compareTo(Key other) {
            return Integer.compare(number, other.number);
        }
    }

    static final Map<String, Order> ORDERS = new HashMap<>();
    static final Map<Key, Line> TREE_BIN = new HashMap<>();
    static final Map<Long, Order> CONCURRENT = new ConcurrentHashMap<>();
    static final Map<Key, Line> CONCURRENT_BIN = new ConcurrentHashMap<>();
    static final Map<Integer, String> SORTED = new TreeMap<>();
    static final Map<String, Line> LINKED = new LinkedHashMap<>();
    static final Map<Line, Order> IDENTITY = new IdentityHashMap<>();
    static final Map<Order, Long> WEAK = new WeakHashMap<>();
    static final List<Object> MIXED = new LinkedList<>();
    static final List<Object> THREE = new CopyOnWriteArrayList<>();
    static final ArrayDeque<Line> QUEUE = new ArrayDeque<>();
    static final Order[] HELD = new Order[1000];
    static final List<Line> EMPTY = new ArrayList<>();
    static List<Line> fixed;
    static List<Line> pair;
    static List<Line> single;
    static Set<Line> singleSet;
    static Map<String, Line> mapped;
    static List<Line> view;
    static final Map<Thread.State, Line> BY_STATE = new EnumMap<>(Thread.State.class);
    static final ArrayBlockingQueue<Line> BOUNDED = new ArrayBlockingQueue<>(1000);
    static final LinkedBlockingQueue<Line> BLOCKING = new LinkedBlockingQueue<>();
    static final LinkedBlockingDeque<Line> BOTH_ENDS = new LinkedBlockingDeque<>();
    static final ConcurrentLinkedQueue<Line> LOCK_FREE = new ConcurrentLinkedQueue<>();
    static final Map<Integer, Line> SKIPS = new ConcurrentSkipListMap<>();
    static final Set<Integer> SKIP_SET = new ConcurrentSkipListSet<>();

    public static void main(String[] arguments) {
        for (int i = 0; i < HELD.length; i++) {
            Order order = HELD[i] = new Order();
            order.lines.add(new Line());
            order.lines.add(new Line());
            order.tags.add(i % 2 == 0 ? (Object) ("tag-" + i) : (Object) Long.valueOf(1_000_000 + i));
            ORDERS.put("order-" + i, order);
            CONCURRENT.put(1_000_000L + i, order);
        }
        for (int i = 0; i < 300; i++) {
            TREE_BIN.put(new Key(i), new Line());
            CONCURRENT_BIN.put(new Key(i), new Line());
            SORTED.put(1_000_000 + i, "sorted-" + i);
            LINKED.put("linked-" + i, new Line());
            IDENTITY.put(new Line(), HELD[i]);
            WEAK.put(HELD[i], 2_000_000L + i);
            MIXED.add(i % 3 == 0 ? (Object) ("mixed-" + i) : (Object) new Line());
            THREE.add(i % 3 == 0 ? (Object) ("three-" + i) : i % 3 == 1 ? (Object) new Line() : (Object) HELD[i]);
            QUEUE.add(new Line());
            BOUNDED.add(new Line());
            BLOCKING.add(new Line());
            BOTH_ENDS.add(new Line());
            LOCK_FREE.add(new Line());
            SKIPS.put(1_000_000 + i, new Line());
            SKIP_SET.add(1_000_000 + i);
        }
        for (int i = 0; i < 100; i++) {
            BOUNDED.remove();
            BLOCKING.remove();
            BOTH_ENDS.remove();
            LOCK_FREE.remove();
            SKIPS.remove(1_000_000 + i);
            SKIP_SET.remove(1_000_000 + i);
        }
        BY_STATE.put(Thread.State.NEW, new Line());
        BY_STATE.put(Thread.State.WAITING, new Line());
        fixed = List.of(new Line(), new Line(), new Line());
        pair = List.of(new Line(), new Line());
        single = List.of(new Line());
        singleSet = Set.of(new Line());
        mapped = Map.of("one", new Line());
        view = Arrays.asList(new Line(), new Line());
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            System.out.println("DONE");
        }
    }
}
