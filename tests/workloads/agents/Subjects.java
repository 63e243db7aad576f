import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** Classes that are woven: one for each part of a class file that could suffer. */
final class Subjects {
    private Subjects() {}

    @Retention(java.lang.annotation.RetentionPolicy.RUNTIME)
    @interface Marked {
        String[] value() default {"a", "b"};
    }

    private @interface Retention {
        java.lang.annotation.RetentionPolicy value();
    }

    /** An agent changes its text when it is loaded. */
    static final class Loaded {
        private Loaded() {}

        static String text() {
            return Agent.PLAIN.concat("");
        }
    }

    /** An agent changes its text before jtrace comes. */
    static final class Before {
        private Before() {}

        static String text() {
            return Agent.PLAIN.concat("");
        }
    }

    /** An agent changes its text while jtrace is inside. */
    static final class During {
        private During() {}

        static String text() {
            return Agent.PLAIN.concat("");
        }
    }

    enum Colour {
        RED,
        GREEN {
            @Override
            int weight(int of) {
                return 2 * of;
            }
        },
        BLUE;

        int weight(int of) {
            switch (this) {
                case RED:
                    return of + 1;
                case BLUE:
                    return of + 3;
                default:
                    throw new IllegalStateException(name());
            }
        }
    }

    interface Weighs {
        int weigh(int of);

        default int twice(int of) {
            return weigh(weigh(of));
        }

        static Weighs by(int factor) {
            return of -> of * factor;
        }
    }

    /** Locks, handlers, loops, switches, lambdas, wide jumps, generics, annotations. */
    @Marked({"x", "y"})
    static class Mixed<T extends Comparable<T>> implements Weighs {
        private final List<T> elements = new ArrayList<>();
        @Deprecated protected volatile long sum;

        @Override
        public synchronized int weigh(@Marked int of) {
            try {
                if (of % 5 == 0) {
                    throw new IllegalArgumentException("five");
                }
                return words(Integer.toString(of));
            } catch (IllegalArgumentException five) {
                return -of;
            } finally {
                sum += of;
            }
        }

        @SafeVarargs
        final T largest(T... of) {
            T largest = null;
            for (T one : of) {
                elements.add(one);
                if (largest == null || one.compareTo(largest) > 0) {
                    largest = one;
                }
            }
            for (Iterator<T> all = elements.iterator(); all.hasNext(); ) {
                all.next();
            }
            elements.clear();
            return largest;
        }

        static int words(String text) {
            IntUnaryOperator adds = each -> each + text.length();
            switch (text) {
                case "one":
                case "1":
                    return adds.applyAsInt(1);
                case "1000000":
                    return 7;
                default:
                    return adds.applyAsInt(text.charAt(0));
            }
        }
    }
}
