/**
 * Recursion to a depth of 10,000, two methods that call each other, Ackermann's function, whose calls for m = 2 are
 * 2 n^2 + 7 n + 5, and two ways from A to C of which only one goes on to E: the graph of calls has a path A-D-C-E, the contexts
 * have not.
 */
public final class Recursion {
    private static final int DEPTH = 10_000;
    private static final int ACKERMANN = 20;
    private static final int PATHS = 25;
    private static int sink;

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            // 10,000 interpreted frames do not fit into every default stack.
            Thread deep = new Thread(null, Recursion::work, "deep", 256L << 20);
            deep.start();
            deep.join();
            session.expect("calls", "Recursion.down", DEPTH);
            session.expect("depth", "Recursion.down", DEPTH);
            session.expect("edge", "Recursion.down->Recursion.down", DEPTH - 1);
            session.expect("calls", "Recursion.even", DEPTH / 2 + 1);
            session.expect("calls", "Recursion.odd", DEPTH / 2);
            session.expect("calls", "Recursion.ackermann", 2 * ACKERMANN * ACKERMANN + 7 * ACKERMANN + 5);
            session.expect("calls", "Recursion.a", PATHS);
            session.expect("calls", "Recursion.b", PATHS);
            session.expect("calls", "Recursion.d", PATHS);
            session.expect("calls", "Recursion.c", 2 * PATHS);
            session.expect("calls", "Recursion.e", PATHS);
            // No instruction of a recursive method is met twice in one call, so each call of these has a context of its own.
            long recursive = DEPTH + DEPTH + 1 + 2 * ACKERMANN * ACKERMANN + 7 * ACKERMANN + 5;
            // The others: the lambda, work, a, b and c and e below it, d and c below it.
            session.expect("contexts", "Recursion", recursive + 8);
            session.expect("context", "Recursion.a;Recursion.b;Recursion.c;Recursion.e", PATHS);
            session.expect("context", "Recursion.a;Recursion.d;Recursion.c", PATHS);
            session.expect("context", "Recursion.a;Recursion.d;Recursion.c;Recursion.e", 0);
        });
    }

    static void work() {
        sink += down(DEPTH);
        sink += even(DEPTH) ? 1 : 0;
        sink += ackermann(2, ACKERMANN);
        for (int i = 0; i < PATHS; i++) {
            a();
        }
    }

    static int down(int n) {
        return n <= 1 ? 1 : 1 + down(n - 1);
    }

    static boolean even(int n) {
        return n == 0 || odd(n - 1);
    }

    static boolean odd(int n) {
        return n != 0 && even(n - 1);
    }

    static int ackermann(int m, int n) {
        if (m == 0) {
            return n + 1;
        }
        return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
    }

    static void a() {
        b();
        d();
    }

    static void b() {
        c(true);
    }

    static void d() {
        c(false);
    }

    static void c(boolean on) {
        if (on) {
            e();
        }
    }

    static void e() {
        sink++;
    }
}
