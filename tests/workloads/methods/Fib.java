/** fib(n) needs 2 F(n+1) - 1 calls, half of the inner ones from each of its two call sites. */
public final class Fib {
    private static final int N = 20;
    private static long sink;

    public static void main(String[] args) throws Exception {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : N;
        Session.serve(session -> {
            sink += start(n);
            long before = 0;
            long calls = 1;
            // F(1), F(2), ... up to F(n + 1).
            for (int i = 0; i < n; i++) {
                long next = before + calls;
                before = calls;
                calls = next;
            }
            calls = 2 * calls - 1;
            session.expect("calls", "Fib.start", 1);
            session.expect("calls", "Fib.fib", calls);
            session.expect("errors", "Fib.fib", 0);
            session.expect("edge", "Fib.start->Fib.fib", 1);
            session.expect("edge", "Fib.fib->Fib.fib", calls - 1);
            session.expect("edge_sites", "Fib.fib->Fib.fib", n > 1 ? 2 : 0);
            session.expect("depth", "Fib.fib", Math.max(n, 1));
        });
    }

    static long start(int n) {
        return fib(n);
    }

    static long fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }
}
