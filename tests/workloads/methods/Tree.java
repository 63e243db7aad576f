/** For each GO a binary tree of calls, of depth 13 where no argument says another: each of its 16,382 calls has a context of its own. */
public final class Tree {
    private static long sum;

    static int left(int depth) {
        return depth == 0 ? 1 : left(depth - 1) + right(depth - 1);
    }

    static int right(int depth) {
        return depth == 0 ? 1 : left(depth - 1) + right(depth - 1);
    }

    public static void main(String[] args) throws Exception {
        int depth = (args.length == 0 ? 13 : Integer.parseInt(args[0])) - 1;
        Session.serve(session -> {
            sum += left(depth) + right(depth);
            long calls = (1L << depth + 1) - 1;
            session.expect("calls", "Tree.left", calls);
            session.expect("calls", "Tree.right", calls);
        });
    }
}
