import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.WeakHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Programs that keep what they will never use again, each in its own way, and {@link Bounded}: what grows and is no leak. The arguments say which.
 * Each line on stdin is a step, which adds the same amount to each.
 */
public class Growing {
    /** Objects that come in each step. */
    static final int MANY = 2000;

    interface Program {
        void step(int number) throws Exception;
    }

    static class Order {
        long number;
        Object customer;
    }

    static class StaticMap implements Program {
        static final Map<Integer, Order> ORDERS = new HashMap<>();

        public void step(int number) {
            for (int i = 0; i < MANY; i++) {
                ORDERS.put(number * MANY + i, new Order());
            }
        }
    }

    static class Listeners implements Program {
        interface Listener {
            void changed(int value);
        }

        static class Model {
            final List<Listener> listeners = new ArrayList<>();
        }

        static class View {
            int shown;

            View(Model model) {
                model.listeners.add(value -> shown = value);
            }
        }

        static final Model MODEL = new Model();

        public void step(int number) {
            for (int i = 0; i < MANY; i++) {
                new View(MODEL);
            }
        }
    }

    /** Four threads that live on, each with a session that nobody removes. */
    static class ThreadLocals implements Program {
        static class Session {
            final byte[] state = new byte[100];
        }

        static final ThreadLocal<List<Session>> SESSIONS = ThreadLocal.withInitial(ArrayList::new);
        private final List<LinkedBlockingQueue<CountDownLatch>> workers = new ArrayList<>();

        ThreadLocals() {
            for (int i = 0; i < 4; i++) {
                LinkedBlockingQueue<CountDownLatch> orders = new LinkedBlockingQueue<>();
                workers.add(orders);
                Thread thread = new Thread(() -> work(orders), "worker-" + i);
                thread.setDaemon(true);
                thread.start();
            }
        }

        private static void work(LinkedBlockingQueue<CountDownLatch> orders) {
            try {
                while (true) {
                    CountDownLatch done = orders.take();
                    for (int i = 0; i < MANY / 4; i++) {
                        SESSIONS.get().add(new Session());
                    }
                    done.countDown();
                }
            } catch (InterruptedException e) {
                // The end.
            }
        }

        public void step(int number) throws Exception {
            CountDownLatch done = new CountDownLatch(workers.size());
            for (LinkedBlockingQueue<CountDownLatch> worker : workers) {
                worker.put(done);
            }
            done.await();
        }
    }

    /** Nobody but the thread that should drain it holds the queue for long. */
    static class Queue implements Program {
        static class Task {
            long number;
        }

        static class Drain extends Thread {
            final ArrayDeque<Task> tasks = new ArrayDeque<>();

            @Override
            public void run() {
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    tasks.clear();
                }
            }
        }

        private final Drain drain = new Drain();

        Queue() {
            drain.setDaemon(true);
            drain.start();
        }

        public void step(int number) {
            for (int i = 0; i < MANY; i++) {
                drain.tasks.add(new Task());
            }
        }
    }

    /** Keys that are never equal: nothing is ever found in the cache. */
    static class BadKeys implements Program {
        static class Key {
            final int number;

            Key(int number) {
                this.number = number;
            }
        }

        static final Map<Key, String> CACHE = new HashMap<>();

        public void step(int number) {
            for (int i = 0; i < MANY; i++) {
                CACHE.computeIfAbsent(new Key(i), key -> "value");
            }
        }
    }

    /** Callbacks are inner classes, and so keep their screens with all that these show. */
    static class InnerClass implements Program {
        static class Screen {
            final char[] pixels = new char[200];

            class Callback {
                int calls;
            }
        }

        static final List<Screen.Callback> CALLBACKS = new ArrayList<>();

        public void step(int number) {
            for (int i = 0; i < MANY / 4; i++) {
                CALLBACKS.add(new Screen().new Callback());
            }
        }
    }

    /** Loaders that are kept, and with each its own copy of a class. */
    static class Loaders implements Program {
        static class PluginLoader extends ClassLoader {
            private final byte[] bytes;

            PluginLoader(byte[] bytes) {
                super(Loaders.class.getClassLoader());
                this.bytes = bytes;
            }

            Class<?> plugin() {
                return defineClass("Plugin", bytes, 0, bytes.length);
            }
        }

        static final List<ClassLoader> KEPT = new ArrayList<>();

        public void step(int number) throws Exception {
            byte[] bytes = Loaders.class.getResourceAsStream("/Plugin.class").readAllBytes();
            for (int i = 0; i < 20; i++) {
                PluginLoader loader = new PluginLoader(bytes);
                loader.plugin().getDeclaredConstructor().newInstance();
                KEPT.add(loader);
            }
        }
    }

    /** One array, that is always longer. */
    static class Journal implements Program {
        static byte[] text = new byte[16];

        public void step(int number) {
            text = Arrays.copyOf(text, text.length + MANY * 100);
        }
    }

    static class Chain implements Program {
        static class Link {
            Link before;
        }

        static Link last;

        public void step(int number) {
            for (int i = 0; i < MANY; i++) {
                Link link = new Link();
                link.before = last;
                last = link;
            }
        }
    }

    /** As many tenants as ever, each with more and more events. */
    static class Tenants implements Program {
        static class Event {
            int kind;
        }

        static final Map<String, List<Event>> BY_NAME = new HashMap<>();

        public void step(int number) {
            for (int i = 0; i < MANY; i++) {
                BY_NAME.computeIfAbsent("tenant " + i % 5, name -> new ArrayList<>()).add(new Event());
            }
        }
    }

    /** Values that hold their own keys: no key is ever only weakly held. */
    static class WeakValues implements Program {
        static final Map<Object, Order> REGISTRY = new WeakHashMap<>();

        public void step(int number) {
            for (int i = 0; i < MANY; i++) {
                Order order = new Order();
                order.customer = new Object();
                REGISTRY.put(order.customer, order);
            }
        }
    }

    /** Threads that wait for what never comes. */
    static class Threads implements Program {
        static class Waiter extends Thread {
            @Override
            public void run() {
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    // The end.
                }
            }
        }

        public void step(int number) {
            for (int i = 0; i < 50; i++) {
                Waiter waiter = new Waiter();
                waiter.setDaemon(true);
                waiter.start();
            }
        }
    }

    static Program program(String name) {
        switch (name) {
            case "StaticMap":
                return new StaticMap();
            case "Listeners":
                return new Listeners();
            case "ThreadLocals":
                return new ThreadLocals();
            case "Queue":
                return new Queue();
            case "BadKeys":
                return new BadKeys();
            case "InnerClass":
                return new InnerClass();
            case "Loaders":
                return new Loaders();
            case "Journal":
                return new Journal();
            case "Chain":
                return new Chain();
            case "Tenants":
                return new Tenants();
            case "WeakValues":
                return new WeakValues();
            case "Threads":
                return new Threads();
            case "Bounded":
                return new Bounded();
            default:
                throw new IllegalArgumentException(name);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Program program = program(arguments[0]);
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        for (int number = 0; in.hasNextLine(); number++) {
            in.nextLine();
            program.step(number);
            System.out.println("DONE step=" + number);
        }
    }
}
