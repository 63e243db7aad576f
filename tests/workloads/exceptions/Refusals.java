import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * For each GO it throws and catches exactly {@code Refusals <refused> <numbers> <built> <bare>} exceptions: of its own class and
 * from five calls deep; out of {@code Integer.parseInt}; out of a constructor; and without a stack trace. It has thrown as many
 * before the first GO as make its code compiled.
 */
public final class Refusals {
    private static final int WARM_UP = 20_000;
    private static final int DEPTH = 5;

    public static void main(String[] args) throws Exception {
        int refused = Integer.parseInt(args[0]);
        int numbers = Integer.parseInt(args[1]);
        int built = Integer.parseInt(args[2]);
        int bare = Integer.parseInt(args[3]);
        throwAll(WARM_UP, WARM_UP, WARM_UP, WARM_UP);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            int caught = throwAll(refused, numbers, built, bare);
            System.out.println("DONE refused=" + refused + " numbers=" + numbers + " built=" + built + " bare=" + bare
                    + " caught=" + caught);
        }
    }

    private static int throwAll(int refused, int numbers, int built, int bare) {
        int caught = 0;
        for (int i = 0; i < refused; i++) {
            try {
                descend(DEPTH);
            } catch (Refused expected) {
                caught++;
            }
        }
        for (int i = 0; i < numbers; i++) {
            try {
                parse("x" + i);
            } catch (NumberFormatException expected) {
                caught++;
            }
        }
        for (int i = 0; i < built; i++) {
            try {
                new Order(-1);
            } catch (IllegalArgumentException expected) {
                caught++;
            }
        }
        for (int i = 0; i < bare; i++) {
            try {
                throw new Bare();
            } catch (Bare expected) {
                caught++;
            }
        }
        return caught;
    }

    private static void descend(int depth) throws Refused {
        if (depth == 1) {
            throw new Refused("no");
        }
        descend(depth - 1);
    }

    private static int parse(String text) {
        return Integer.parseInt(text);
    }

    /** An exception of the program, whose constructors call each other. */
    private static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        Refused(String message) {
            this(message, null);
        }

        Refused(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** Its constructor refuses. */
    private static final class Order {
        private final int pieces;

        Order(int pieces) {
            if (pieces < 0) {
                throw new IllegalArgumentException("pieces: " + pieces);
            }
            this.pieces = pieces;
        }
    }

    /** An exception without a stack trace. */
    private static final class Bare extends RuntimeException {
        private static final long serialVersionUID = 1;

        Bare() {
            super("bare", null, false, false);
        }
    }
}
