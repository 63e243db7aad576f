/** Methods that compiled code takes in: one that leaves no trace there, and one that leaves some. Each has its own loop in a class of its own. */
public final class Short {
    private static final int CALLS = 1000;
    /** Enough for C2. */
    private static final int WARM = 30_000;
    private static final int ROUNDS = 100;
    private static long sink;

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < WARM; i++) {
            all();
        }
        Session.serve(session -> {
            for (int i = 0; i < ROUNDS; i++) {
                all();
            }
            session.expect("calls", "Short$Sum.plus", ROUNDS * CALLS);
            session.expect("calls", "Short$Text.length", ROUNDS * CALLS);
        });
    }

    private static void all() {
        sink += OfSum.round();
        sink += OfText.round();
    }

    /** Computes, and nothing else. */
    static final class Sum {
        static int plus(int a, int b) {
            return a + b;
        }
    }

    static final class OfSum {
        static int round() {
            int sum = 0;
            for (int i = 0; i < CALLS; i++) {
                sum = Sum.plus(i, sum);
            }
            return sum;
        }
    }

    /** Calls what its caller gives it. */
    static final class Text {
        static int length(CharSequence text) {
            return text.length();
        }
    }

    static final class OfText {
        private static final CharSequence[] TEXTS = {"one", new StringBuilder("three"), "fifteen"};

        static int round() {
            int sum = 0;
            for (int i = 0; i < CALLS; i++) {
                sum += Text.length(TEXTS[i % TEXTS.length]);
            }
            return sum;
        }
    }
}
