/**
 * Interpreted and compiled methods that call each other, with arguments in registers and on the stack: the test has the JVM
 * never compile methods whose names begin with `interpreted`.
 */
final class Mixed {
    private static double sink;

    private Mixed() {}

    static void make(Worker worker, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            for (int warm = 0; warm < 40; warm++) {
                compiled(worker, 3);
            }
            worker.armed = true;
            compiled(worker, 3 + i % 3);
        }
    }

    private static void compiled(Worker worker, int depth) throws Exception {
        if (depth == 0) {
            Probe.hit(worker);
        } else if (depth % 2 == 0) {
            interpretedFew(worker, depth - 1);
        } else {
            sink += interpretedMany(1, 2L, 3.0, 4f, 5, 6L, 7, 8, worker, depth - 1, 11.0, 12L, "13");
        }
    }

    private static void interpretedFew(Worker worker, int depth) throws Exception {
        compiledMany(1, 2, 3, 4L, 5, 6, 7, 8, 9.0, worker, depth);
    }

    private static double interpretedMany(int a, long b, double c, float d, int e, long f, int g, int h, Worker worker,
            int depth, double k, long l, String m) throws Exception {
        compiled(worker, depth);
        return a + b + c + d + e + f + g + h + k + l + m.length();
    }

    private static long compiledMany(int a, int b, int c, long d, int e, int f, int g, int h, double i, Worker worker,
            int depth) throws Exception {
        compiled(worker, depth);
        return a + b + c + d + e + f + g + h + (long) i;
    }
}
