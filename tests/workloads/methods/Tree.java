/** For each GO a binary tree of calls of depth 13: each of its 16,382 calls has a context of its own. */
public final class Tree {
    private static final int DEPTH = 12;
    private static long sum;

    static int left(int depth) {
        return depth == 0 ? 1 : left(depth - 1) + right(depth - 1);
    }

    static int right(int depth) {
        return depth == 0 ? 1 : left(depth - 1) + right(depth - 1);
    }

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            sum += left(DEPTH) + right(DEPTH);
            long calls = (1L << DEPTH + 1) - 1;
            session.expect("calls", "Tree.left", calls);
            session.expect("calls", "Tree.right", calls);
        });
    }
}
