import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Iterator;

/**
 * Iterators that die young, as many as the argument says. Three of four are asked for one more element than there is when they die.
 */
public final class Iterators {
    private static long sum;

    /** Nobody else has these. */
    private static final class Own implements Iterator<Integer> {
        private int left = 3;

        @Override
        public boolean hasNext() {
            return left > 0;
        }

        @Override
        public Integer next() {
            return left--;
        }
    }

    private Iterators() {}

    public static void main(String[] args) throws Exception {
        int iterators = Integer.parseInt(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            System.out.println("expected dead Iterators " + run(iterators));
            System.out.println("expected illegal Iterators 0");
            System.out.println("expected objects Iterators " + iterators);
            System.gc();
            System.out.println("DONE expected=3");
        }
    }

    private static long run(int iterators) {
        long asked = 0;
        for (int i = 0; i < iterators; i++) {
            Iterator<Integer> elements = new Own();
            if (i % 4 == 0) {
                sum += elements.hasNext() ? elements.next() : 0;
                continue;
            }
            while (elements.hasNext()) {
                sum += elements.next();
            }
            asked++;
        }
        return asked;
    }
}
