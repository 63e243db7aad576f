import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Properties;
import java.util.Scanner;
import java.util.Stack;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.LongAdder;

/** Collections of each kind, in static fields, in fields of objects, of threads and of tasks, and in a variable. Each work puts a number of entries of its own into each. */
public class Keeper {
    static class Recent extends LinkedHashMap<Object, Object> {}

    static class Shelf {
        final Map<Object, Object> books = new HashMap<>();
        final Shelf next;

        Shelf(Shelf next) {
            this.next = next;
        }
    }

    static class Clerk extends Thread {
        final List<Object> letters = new ArrayList<>();

        @Override
        public void run() {
            stand();
        }
    }

    static final List<Object> LIST = new ArrayList<>();
    static final List<Object> LINKED = new LinkedList<>();
    static final List<Object> STACK = new Stack<>();
    static final ArrayDeque<Object> RING = new ArrayDeque<>();
    static final PriorityQueue<Object> PRIORITY = new PriorityQueue<>();
    static final Map<Object, Object> HASH = new HashMap<>();
    static final Map<Object, Object> RECENT = new Recent();
    static final Map<Object, Object> TREE = new TreeMap<>();
    static final Map<Object, Object> TABLE = new Hashtable<>();
    static final Map<Object, Object> PROPERTIES = new Properties();
    static final Map<Object, Object> IDENTITY = new IdentityHashMap<>();
    static final Map<Object, Object> CONCURRENT = new ConcurrentHashMap<>();
    static final Map<Object, Object> SKIPS = new ConcurrentSkipListMap<>();
    static final Collection<Object> HASH_SET = new HashSet<>();
    static final Collection<Object> LINKED_SET = new LinkedHashSet<>();
    static final Collection<Object> TREE_SET = new TreeSet<>();
    static final Collection<Object> KEY_SET = ConcurrentHashMap.newKeySet();
    static final Collection<Object> FROM_MAP = Collections.newSetFromMap(new ConcurrentHashMap<>());
    static final Collection<Object> SKIP_SET = new ConcurrentSkipListSet<>();
    static final List<Object> COPIED = new CopyOnWriteArrayList<>();
    static final List<Object> LOCKED = Collections.synchronizedList(new ArrayList<>());
    static final Map<Object, Object> LOCKED_MAP = Collections.synchronizedMap(new TreeMap<>());
    static final Collection<Object> VIEW = Collections.unmodifiableCollection(LIST);
    static final Collection<Object> QUEUE = new LinkedBlockingQueue<>();
    static final Collection<Object> BOUNDED = new ArrayBlockingQueue<>(100_000);
    @SuppressWarnings("unchecked")
    static final Map<Object, Object>[] SHARDS = new Map[] {new HashMap<>(), null, new TreeMap<>()};
    static final LongAdder COUNT = new LongAdder();
    static final Shelf ONE = new Shelf(new Shelf(new Shelf(null)));

    static final CountDownLatch NEVER = new CountDownLatch(1);
    static int next;

    static void stand() {
        try {
            NEVER.await();
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    /** Some come and go again in between: a ring goes round, and cells of counters are used. */
    static void put(Collection<Object> into, int entries) {
        for (int i = 0; i < entries; i++) {
            into.add(next++);
        }
    }

    static void put(Map<Object, Object> into, int entries) {
        for (int i = 0; i < entries; i++) {
            into.put(next++, "");
        }
    }

    /** From four threads at a time, which meet. */
    static void together(Map<Object, Object> into, int each) throws InterruptedException {
        Thread[] threads = new Thread[4];
        for (int t = 0; t < threads.length; t++) {
            int first = next;
            next += each;
            threads[t] = new Thread(() -> {
                for (int i = 0; i < each; i++) {
                    into.put(first + i, "");
                }
            });
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        COUNT.add(each);
    }

    static void work(Clerk clerk, Map<Object, Object> caught) throws InterruptedException {
        int entries = 100;
        for (int i = 0; i < 10; i++) {
            RING.add(next++);
        }
        for (int i = 0; i < 5; i++) {
            RING.remove();
        }
        List<Collection<Object>> collections = new ArrayList<>();
        Collections.addAll(collections, LIST, LINKED, STACK, RING, PRIORITY, HASH_SET, LINKED_SET, TREE_SET, KEY_SET,
            FROM_MAP, SKIP_SET, COPIED, LOCKED, QUEUE, BOUNDED, clerk.letters);
        for (Collection<Object> collection : collections) {
            put(collection, entries++);
        }
        List<Map<Object, Object>> maps = new ArrayList<>();
        Collections.addAll(maps, HASH, RECENT, TREE, TABLE, PROPERTIES, IDENTITY, LOCKED_MAP, caught);
        for (Map<Object, Object> map : maps) {
            put(map, entries++);
        }
        put(SHARDS[0], entries++);
        put(SHARDS[2], entries++);
        together(CONCURRENT, 500);
        together(SKIPS, 250);
        for (Shelf shelf = ONE; shelf != null; shelf = shelf.next) {
            put(shelf.books, entries++);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Clerk clerk = new Clerk();
        Map<Object, Object> caught = new HashMap<>();
        Thread lambda = new Thread(() -> {
            stand();
            caught.clear();
        });
        for (Thread thread : new Thread[] {clerk, lambda}) {
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            work(clerk, caught);
            // What is kept lies elsewhere afterwards.
            System.gc();
            StringBuilder done = new StringBuilder("DONE");
            String[] names = {"LIST", "LINKED", "STACK", "RING", "PRIORITY", "HASH_SET", "LINKED_SET", "TREE_SET", "KEY_SET",
                "FROM_MAP", "SKIP_SET", "COPIED", "LOCKED", "QUEUE", "BOUNDED", "VIEW"};
            List<Collection<Object>> collections = new ArrayList<>();
            Collections.addAll(collections, LIST, LINKED, STACK, RING, PRIORITY, HASH_SET, LINKED_SET, TREE_SET, KEY_SET,
                FROM_MAP, SKIP_SET, COPIED, LOCKED, QUEUE, BOUNDED, VIEW);
            for (int i = 0; i < names.length; i++) {
                done.append(" Keeper.").append(names[i]).append('=').append(collections.get(i).size());
            }
            String[] ofMaps = {"HASH", "RECENT", "TREE", "TABLE", "PROPERTIES", "IDENTITY", "LOCKED_MAP", "CONCURRENT", "SKIPS"};
            List<Map<Object, Object>> maps = new ArrayList<>();
            Collections.addAll(maps, HASH, RECENT, TREE, TABLE, PROPERTIES, IDENTITY, LOCKED_MAP, CONCURRENT, SKIPS);
            for (int i = 0; i < ofMaps.length; i++) {
                done.append(" Keeper.").append(ofMaps[i]).append('=').append(maps.get(i).size());
            }
            // Two shelves are near enough to the static field; what is in both is told together.
            int books = ONE.books.size() + ONE.next.books.size();
            done.append(" Keeper$Shelf.books=").append(books);
            done.append(" Keeper.SHARDS[]=").append(SHARDS[0].size() + SHARDS[2].size());
            done.append(" Keeper$Clerk.letters=").append(clerk.letters.size());
            done.append(" lambda=").append(caught.size());
            // It is in a variable of this method, too.
            done.append(" variable=").append(caught.size());
            System.out.println(done);
        }
    }
}
