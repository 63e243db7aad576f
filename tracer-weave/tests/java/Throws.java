/** Exceptions of every origin, and every way that they go; how many there are of each is known beforehand. */
public class Throws {
    static class Own extends RuntimeException {}

    static class Other extends RuntimeException {}

    static class Door implements AutoCloseable {
        @Override
        public void close() {
            closed++;
        }
    }

    static class Refuses {
        final int value;

        Refuses(int value) {
            this.value = value;
            if (value > 0) {
                throw new Own();
            }
        }

        // What ends before the object is initialised is told by nobody but the caller.
        Refuses(String text) {
            this(Integer.parseInt(text));
        }
    }

    static int closed;
    static int seen;
    private int field;

    public static void main(String[] args) {
        for (int round = 0; round < 10; round++) {
            own();
            callers();
            implicit(new int[3], null, 0, "text");
            library();
            either(round);
            constructors();
            full();
            nothing(new Throws());
        }
    }

    static void own() {
        try {
            throw new Own();
        } catch (Own expected) {
            seen++;
        }
    }

    static int deep(int depth) {
        if (depth == 0) {
            throw new Own();
        }
        return deep(depth - 1) + 1;
    }

    static int finallies() {
        try {
            return deep(0);
        } finally {
            seen++;
        }
    }

    static int locked() {
        synchronized (Throws.class) {
            return deep(0);
        }
    }

    static int again() {
        try {
            return deep(0);
        } catch (Own expected) {
            throw expected;
        }
    }

    static int closing() {
        try (Door door = new Door()) {
            return deep(0);
        }
    }

    static void callers() {
        try {
            deep(3);
        } catch (RuntimeException expected) {
            seen++;
        }
        try {
            finallies();
        } catch (RuntimeException expected) {
            seen++;
        }
        try {
            locked();
        } catch (RuntimeException expected) {
            seen++;
        }
        try {
            again();
        } catch (RuntimeException expected) {
            seen++;
        }
        try {
            closing();
        } catch (RuntimeException expected) {
            seen++;
        }
    }

    static void implicit(int[] array, Throws none, int zero, Object text) {
        try {
            seen += array[3];
        } catch (ArrayIndexOutOfBoundsException expected) {
            seen++;
        }
        try {
            seen += none.field;
        } catch (NullPointerException expected) {
            seen++;
        }
        try {
            seen /= zero;
        } catch (ArithmeticException expected) {
            seen++;
        }
        try {
            seen += ((Integer) text).intValue();
        } catch (ClassCastException expected) {
            seen++;
        }
        try {
            seen += new int[zero - 1].length;
        } catch (NegativeArraySizeException expected) {
            seen++;
        }
    }

    static void library() {
        try {
            seen += Integer.parseInt("none");
        } catch (NumberFormatException expected) {
            seen++;
        }
    }

    static void either(int round) {
        try {
            if (round % 2 == 0) {
                throw new Own();
            }
            throw new Other();
        } catch (Own | Other expected) {
            seen++;
        }
    }

    static void constructors() {
        try {
            seen += new Refuses(1).value;
        } catch (Own expected) {
            seen++;
        }
        try {
            seen += new Refuses("none").value;
        } catch (NumberFormatException expected) {
            seen++;
        }
    }

    // The recorder finds no stack either, and the error is caught all the same.
    static void full() {
        try {
            throw new StackOverflowError();
        } catch (StackOverflowError expected) {
            seen++;
        }
        try {
            synchronized (Throws.class) {
                throw new StackOverflowError();
            }
        } catch (StackOverflowError expected) {
            if (Thread.holdsLock(Throws.class)) {
                throw new AssertionError("the monitor was not left");
            }
        }
    }

    // Nothing comes of it.
    static int nothing(Throws of) {
        try {
            return of.plain();
        } catch (Own never) {
            return 0;
        }
    }

    int plain() {
        return field;
    }
}
