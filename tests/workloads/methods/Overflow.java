/**
 * StackOverflowError: how deep it goes is the JVM's business, so the program counts itself. The call that finds no room may be
 * reported or not, so calls lie between two numbers. All of them end by the exception.
 */
public final class Overflow {
    private static final int ROUNDS = 3;
    private static long entered;
    private static int sink;

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            entered = 0;
            Thread shallow = new Thread(null, Overflow::work, "shallow", 1L << 20);
            shallow.start();
            shallow.join();
            session.expect("calls", "Overflow.caught", ROUNDS);
            session.expect("errors", "Overflow.caught", 0);
            session.expect("calls_from", "Overflow.down", entered);
            session.expect("calls_to", "Overflow.down", entered + ROUNDS);
            session.expect("calls", "Overflow.after", ROUNDS);
            session.expect("edge", "Overflow.work->Overflow.after", ROUNDS);
        });
    }

    static void work() {
        for (int i = 0; i < ROUNDS; i++) {
            caught();
            // Its caller shows whether everything above was given up.
            after();
        }
    }

    static void caught() {
        try {
            down();
        } catch (StackOverflowError expected) {
            sink++;
        }
    }

    static void down() {
        entered++;
        down();
        sink++;
    }

    static void after() {
        sink++;
    }
}
