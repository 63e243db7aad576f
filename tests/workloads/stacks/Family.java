import java.util.function.BiConsumer;

/** A hierarchy of classes that looks simple to a compiler until {@link Late} is loaded. */
public final class Family implements BiConsumer<Runnable, Integer> {
    /** Has one implementation at first. */
    abstract static class Base {
        abstract int step(Runnable innermost, int depth);
    }

    /** The first implementation. */
    static final class Early extends Base {
        @Override int step(Runnable innermost, int depth) {
            if (depth == 0) {
                innermost.run();
                return 1;
            }
            return down(this, innermost, depth - 1) + 1;
        }
    }

    /** The second implementation, loaded when the first one is on the stack. */
    static final class Late extends Base {
        @Override int step(Runnable innermost, int depth) {
            return 0;
        }
    }

    private final Base only = new Early();

    private static int down(Base base, Runnable innermost, int depth) {
        int result = base.step(innermost, depth);
        return result * 3;
    }

    @Override public void accept(Runnable innermost, Integer depth) {
        down(only, innermost, depth);
    }
}
