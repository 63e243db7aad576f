/** Calls at three depths of loops: their counts are the products of the lengths. */
public final class NestedLoops {
    private static final int OUTER = 20;
    private static final int MIDDLE = 30;
    private static final int INNER = 50;
    private static int sink;

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            outer();
            session.expect("calls", "NestedLoops.outer", 1);
            session.expect("calls", "NestedLoops.middle", OUTER);
            session.expect("calls", "NestedLoops.inner", OUTER * MIDDLE);
            session.expect("calls", "NestedLoops.leaf", OUTER * MIDDLE * INNER);
            session.expect("edge", "NestedLoops.outer->NestedLoops.middle", OUTER);
            session.expect("edge", "NestedLoops.middle->NestedLoops.inner", OUTER * MIDDLE);
            session.expect("edge", "NestedLoops.inner->NestedLoops.leaf", OUTER * MIDDLE * INNER);
        });
    }

    static void outer() {
        for (int i = 0; i < OUTER; i++) {
            middle();
        }
    }

    static void middle() {
        for (int i = 0; i < MIDDLE; i++) {
            inner();
        }
    }

    static void inner() {
        for (int i = 0; i < INNER; i++) {
            leaf();
        }
    }

    static void leaf() {
        sink++;
    }
}
