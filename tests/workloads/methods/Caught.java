/**
 * A method whose every tenth call ends by an exception, which the method that calls it catches: where one compiled code holds
 * both, no frame is left by that.
 */
public final class Caught {
    private static final int CALLS = 20_000;
    private static final RuntimeException REFUSED = new RuntimeException("refused", null, false, false) {};
    private static long sum;

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            for (int i = 0; i < CALLS; i++) {
                catching(i);
            }
            session.expect("calls", "Caught.throwing", CALLS);
            session.expect("errors", "Caught.throwing", CALLS / 10);
        });
    }

    static void catching(int number) {
        try {
            throwing(number);
        } catch (RuntimeException expected) {
            sum--;
        }
    }

    static void throwing(int number) {
        if (number % 10 == 9) {
            throw REFUSED;
        }
        sum += number;
    }
}
