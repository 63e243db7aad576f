import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** Lambdas and method references: their bodies are methods of this class, called a known number of times. */
public final class Lambdas {
    private static final int CALLS = 1000;
    private static long sink;

    public static void main(String[] args) throws Exception {
        Session.serve(new Work());
    }

    /** A class of its own, so that the numbers of this class's lambdas do not depend on what main has. */
    private static final class Work implements Session.Work {
        @Override
        public void run(Session session) {
            captured(3);
            referred();
            streamed();
            session.expect("calls", "Lambdas.captured", 1);
            session.expect("calls", "Lambdas.lambda$captured$0", CALLS);
            session.expect("calls", "Lambdas.twice", CALLS);
            session.expect("calls", "Lambdas.square", CALLS);
            session.expect("calls", "Lambdas.apply", 2 * CALLS);
        }
    }

    static void captured(int factor) {
        IntUnaryOperator times = x -> x * factor;
        for (int i = 0; i < CALLS; i++) {
            sink += apply(times, i);
        }
    }

    static void referred() {
        IntUnaryOperator twice = Lambdas::twice;
        for (int i = 0; i < CALLS; i++) {
            sink += apply(twice, i);
        }
    }

    static void streamed() {
        sink += IntStream.range(0, CALLS).map(Lambdas::square).sum();
    }

    static int apply(IntUnaryOperator operator, int x) {
        return operator.applyAsInt(x);
    }

    static int twice(int x) {
        return 2 * x;
    }

    static int square(int x) {
        return x * x;
    }
}
