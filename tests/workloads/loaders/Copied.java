import java.util.function.IntUnaryOperator;

/** A class that several loaders have, each its own. */
public final class Copied implements Runnable {
    private static int calls;

    @Override
    public void run() {
        once();
        // JDK 17 makes no lambdas in hidden classes.
        if (getClass().getName().indexOf('/') < 0) {
            lambda();
        }
    }

    /** Called once for each call of {@link #run}. */
    static void once() {
        calls++;
    }

    private static void lambda() {
        IntUnaryOperator adds = one -> one + calls;
        calls = adds.applyAsInt(1);
    }
}
