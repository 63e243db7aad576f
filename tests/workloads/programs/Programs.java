import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Runs a real program over and over for a time: {@code Programs NAME SECONDS}. The inputs are made here and are the same in
 * each run. The programs' own classes are on the class path and are reached through interfaces of the JDK or by reflection, so
 * that this compiles without them.
 */
public final class Programs {
    /** One piece of work of a real program. */
    interface Program {
        /** Does it once; the result depends on the work, and on nothing else. */
        long round() throws Exception;
    }

    private Programs() {}

    public static void main(String[] args) throws Exception {
        Program program = program(args[0]);
        long seconds = Long.parseLong(args[1]);
        // Work of the first round is compiled and its files are made before anybody watches.
        long expected = program.round();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            long end = System.nanoTime() + seconds * 1_000_000_000;
            int rounds = 0;
            while (System.nanoTime() < end) {
                long result = program.round();
                if (result != expected) {
                    throw new IllegalStateException("a round gave " + result + ", the first one " + expected);
                }
                rounds++;
            }
            System.out.println("DONE rounds=" + rounds);
        }
    }

    private static Program program(String name) throws Exception {
        switch (name) {
            case "h2": return new Database();
            case "xalan": return new Stylesheets();
            case "ecj": return new Compilation(true);
            case "javac": return new Compilation(false);
            case "batik": return new Drawing();
            case "sunflow": return new Rays();
            default: throw new IllegalArgumentException(name);
        }
    }
}
