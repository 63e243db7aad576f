// A stand-in for the class that woven code calls: it counts. It uses nothing but arrays, so that woven classes of java.base
// may call it at any time. Compiled into java.base with --patch-module.
package java.lang;

public final class JtraceMarks {
    private static final int PLACES = 1 << 20;
    public static final int POINT = 0, ENTER = 1, EXIT = 2, THROWN = 3, SYMBOL = 4, ARGUMENT = 5, RECEIVER = 6;
    // Off while the JVM starts: arrays of this size are not for its first classes.
    private static int[][] counts;
    private static long sum;
    private static int depth;
    private static int nested;
    private static String first = "";
    private static final int[] open = new int[1 << 16];

    private JtraceMarks() {}

    public static void on() {
        int[][] made = new int[7][PLACES];
        counts = made;
    }

    private static void count(int kind, int place) {
        int[][] to = counts;
        if (to != null) {
            to[kind][place]++;
        }
    }

    private static void in(int place) {
        if (counts != null && depth < open.length) {
            open[depth++] = place;
        }
    }

    private static void out(int place) {
        if (counts != null) {
            if (depth > 0 && open[depth - 1] == place) {
                depth--;
            } else {
                if (nested++ == 0) {
                    first = "\nfirst " + place + " in " + (depth > 0 ? open[depth - 1] : -1);
                }
            }
        }
    }

    private static void receiver(int place, Object receiver) {
        if (receiver != null) {
            count(RECEIVER, place);
        }
    }

    public static void point(int place) { count(POINT, place); }
    public static void point(int place, Object receiver) { count(POINT, place); receiver(place, receiver); }
    public static void enter(int place) { count(ENTER, place); in(place); }
    public static void enter(int place, Object receiver) { count(ENTER, place); receiver(place, receiver); in(place); }
    public static void exit(int place) { count(EXIT, place); out(place); }
    public static void exit(int place, Object receiver) { count(EXIT, place); receiver(place, receiver); out(place); }
    public static void thrown(int place) { count(THROWN, place); out(place); }
    public static void thrown(int place, Object receiver) { count(THROWN, place); receiver(place, receiver); out(place); }

    // As where the stack is full.
    public static void exception(Object thrown, int place) {
        count(POINT, place);
        receiver(place, thrown);
        if (thrown instanceof StackOverflowError) { throw new StackOverflowError(); }
    }

    // A region that is over at once has no entry of its own.
    public static void passed(int place) { count(ENTER, place); count(EXIT, place); }
    public static void passedThrown(int place) { count(ENTER, place); count(THROWN, place); }

    // What the entry says must come back at the end; 0 while nothing is counted.
    public static long entered(int place) { enter(place); return counts == null ? 0 : ~(long) place; }
    public static void left(long kept, int place) { if (kept != 0) exit(kept == ~(long) place ? place : 0); }
    public static void threw(long kept, int place) { if (kept != 0) thrown(kept == ~(long) place ? place : 0); }

    // Lengths of arrays add to the sum.
    private static long made(long arrays, int length, int place) {
        for (long i = 0; i < arrays; i++) { count(POINT, place); }
        if (counts != null) { sum += arrays * length; }
        return arrays * length;
    }
    public static void bytes(int length, int place) { made(1, length, place); }
    public static void shorts(int length, int place) { made(1, length, place); }
    public static void ints(int length, int place) { made(1, length, place); }
    public static void longs(int length, int place) { made(1, length, place); }
    public static void references(int length, int place) { made(1, length, place); }
    public static long manyBytes(long arrays, int length, int place) { return made(arrays, length, place); }
    public static long manyShorts(long arrays, int length, int place) { return made(arrays, length, place); }
    public static long manyInts(long arrays, int length, int place) { return made(arrays, length, place); }
    public static long manyLongs(long arrays, int length, int place) { return made(arrays, length, place); }
    public static long manyReferences(long arrays, int length, int place) { return made(arrays, length, place); }

    public static void symbol(int place, Object receiver) { count(SYMBOL, place); receiver(place, receiver); }
    public static void argument(int place, int index, long value) { count(ARGUMENT, place); sum += value * (index + 1); }
    public static void argument(int place, int index, double value) { count(ARGUMENT, place); sum += (long) value * (index + 1); }

    public static void argument(int place, int index, Object value) {
        count(ARGUMENT, place);
        if (value instanceof String) {
            sum += ((String) value).length() * (index + 1);
        }
    }

    // One line for each place that was come to; then what was wrong with the nesting, and the sum of the arguments.
    public static String report() {
        int[][] counted = counts;
        counts = null;
        StringBuilder text = new StringBuilder();
        for (int place = 0; place < PLACES; place++) {
            boolean any = false;
            for (int kind = 0; kind < 7; kind++) {
                any |= counted[kind][place] != 0;
            }
            if (any) {
                text.append(place);
                for (int kind = 0; kind < 7; kind++) {
                    text.append(' ').append(counted[kind][place]);
                }
                text.append('\n');
            }
        }
        return text.append("open ").append(depth).append("\nnested ").append(nested).append(first).append("\nsum ").append(sum).append('\n').toString();
    }
}
