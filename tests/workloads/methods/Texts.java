import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Calls a method with texts, long and short, Latin and others. For each line on stdin it works once and says what a complete count is:
 * "expected calls Texts.greet 3000".
 */
public final class Texts {
    private static final int TIMES = 1000;
    private static final String LONG = "a long text that is cut somewhere, because only its beginning is told of it";

    private static int sum;

    private Texts() {}

    static void greet(String who, int times) {
        sum += who.length() + times;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            for (int i = 0; i < TIMES; i++) {
                greet("x", i);
                greet(LONG, i);
                greet("\u0436\u0443\u043a", i);
            }
            System.out.println("expected calls Texts.greet " + 3 * TIMES);
            System.out.println("DONE expected=1");
        }
    }
}
