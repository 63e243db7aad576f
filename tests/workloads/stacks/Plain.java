/** Calls without anything special, and recursion. */
final class Plain {
    private Plain() {}

    static void make(Worker worker, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            for (int warm = 0; warm < 30; warm++) {
                first(worker, warm);
            }
            worker.armed = true;
            first(worker, i);
        }
    }

    private static int first(Worker worker, int value) throws Exception {
        return value % 2 == 0
            ? second(worker, value + 1L)
            : new Plain().third(worker, value);
    }

    private static synchronized int second(Worker worker, long value) throws Exception {
        int before = (int) value;
        return before + new Plain().third(worker, value * 0.5);
    }

    private synchronized int third(Worker worker, double value) throws Exception {
        Probe.hit(worker);
        return (int) value;
    }

    /** The stack is `depth` deep, in two methods that take turns. */
    static int recurse(Worker worker, int count, int depth) throws Exception {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            for (int warm = 0; warm < 3; warm++) {
                sum += even(worker, depth);
            }
            worker.armed = true;
            sum += even(worker, depth);
        }
        return sum;
    }

    private static int even(Worker worker, int depth) throws Exception {
        if (depth == 0) {
            Probe.hit(worker);
            return 0;
        }
        return depth % 3 == 0
            ? odd(worker, depth - 1, depth)
            : odd(worker, depth - 1, -depth);
    }

    private static int odd(Worker worker, int depth, long salt) throws Exception {
        if (depth <= 0) {
            Probe.hit(worker);
            return (int) salt;
        }
        int result = even(worker, depth - 1);
        return result ^ (int) salt;
    }
}
