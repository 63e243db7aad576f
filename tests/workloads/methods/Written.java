import java.lang.management.ManagementFactory;

/**
 * A thread that makes objects by instructions of its own and by nothing else, all of which escape; then objects that nobody else sees,
 * which a compiler may leave out. For each the JVM's own counter of the thread says what reached the heap.
 */
public final class Written {
    private static final int ROUNDS = 500;
    private static final int HIDDEN = 200_000;

    /** Classes of several sizes, with and without a superclass of their own. */
    static class Node {
        Node next;
        byte tag;
    }

    static final class Wide extends Node {
        long a;
        double b;
        int c;
    }

    static final class Hidden {
        final int value;

        Hidden(int value) {
            this.value = value;
        }
    }

    /** Makes things when it is told to, and keeps the last ones. */
    static final class Maker extends Thread {
        private final Object[] kept = new Object[64];
        private final Object lock = new Object();
        private int step;
        private int done;
        private long sum;

        Maker() {
            super("maker");
            setDaemon(true);
        }

        void step() throws InterruptedException {
            synchronized (lock) {
                int wanted = ++step;
                lock.notifyAll();
                while (done < wanted) {
                    lock.wait();
                }
            }
        }

        @Override
        public void run() {
            for (;;) {
                int next;
                synchronized (lock) {
                    while (step == done) {
                        try {
                            lock.wait();
                        } catch (InterruptedException impossible) {
                            return;
                        }
                    }
                    next = step;
                }
                if (next % 2 == 1) {
                    escaping();
                } else {
                    hidden();
                }
                synchronized (lock) {
                    done = next;
                    lock.notifyAll();
                }
            }
        }

        private void keep(Object made) {
            kept[(int) (sum++ & 63)] = made;
        }

        private void escaping() {
            for (int i = 0; i < ROUNDS; i++) {
                objects();
                primitives(i % 37);
                references(i % 37);
                nested(i % 5);
                copies(i % 37);
            }
        }

        private void objects() {
            keep(new Object());
            keep(new Node());
            keep(new Wide());
        }

        private void primitives(int length) {
            keep(new boolean[length]);
            keep(new byte[length]);
            keep(new char[length]);
            keep(new short[length]);
            keep(new int[length]);
            keep(new float[length]);
            keep(new long[length]);
            keep(new double[length]);
        }

        private void references(int length) {
            keep(new String[length]);
            keep(new int[length][]);
            keep(new Node[] {null, null, null});
        }

        private void nested(int length) {
            keep(new byte[length][3]);
            keep(new long[2][length][5]);
            keep(new Node[3][length][2][]);
        }

        private void copies(int length) {
            int[] numbers = new int[length];
            keep(numbers);
            int[] copy = numbers.clone();
            keep(copy);
        }

        private void hidden() {
            for (int i = 0; i < HIDDEN; i++) {
                sum += new Hidden(i & 1).value;
            }
        }
    }

    private Written() {}

    public static void main(String[] args) throws Exception {
        com.sun.management.ThreadMXBean threads =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Maker maker = new Maker();
        maker.start();
        Session.serve(session -> {
            long before = threads.getThreadAllocatedBytes(maker.getId());
            maker.step();
            long between = threads.getThreadAllocatedBytes(maker.getId());
            maker.step();
            long after = threads.getThreadAllocatedBytes(maker.getId());
            session.expect("reached_bytes", "escaping", between - before);
            session.expect("reached_bytes", "hidden", after - between);
            expect(session);
        });
    }

    private static void expect(Session session) {
        long sizes = 0;
        for (int i = 0; i < ROUNDS; i++) {
            sizes += i % 5;
        }
        session.expect("written", "java.lang.Object", ROUNDS);
        session.expect("written", "Written$Node", ROUNDS);
        session.expect("written", "Written$Wide", ROUNDS);
        session.expect("written", "Written$Hidden", HIDDEN);
        for (String type : new String[] {"boolean", "char", "short", "float", "double"}) {
            session.expect("written", type + "[]", ROUNDS);
        }
        session.expect("written", "byte[]", ROUNDS + sizes);
        // Two of their own, and a copy.
        session.expect("written", "int[]", 3 * ROUNDS);
        session.expect("written", "long[]", ROUNDS + 2 * sizes);
        // And the names of types above.
        session.expect("written", "java.lang.String[]", ROUNDS + 1);
        session.expect("written", "int[][]", ROUNDS);
        session.expect("written", "Written$Node[]", ROUNDS);
        session.expect("written", "byte[][]", ROUNDS);
        session.expect("written", "long[][][]", ROUNDS);
        session.expect("written", "long[][]", 2 * ROUNDS);
        session.expect("written", "Written$Node[][][][]", ROUNDS);
        session.expect("written", "Written$Node[][][]", 3 * ROUNDS);
        session.expect("written", "Written$Node[][]", 3 * sizes);
    }
}
