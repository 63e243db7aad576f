package jtrace.bench;

import java.io.PrintStream;

/**
 * Starts DaCapo with the words that it is given, and keeps the standard output for the line protocol. DaCapo's own lines go
 * to the standard error.
 */
public final class Dacapo {
    /** Where the line protocol is spoken. */
    static final PrintStream LINES = System.out;

    private Dacapo() {}

    public static void main(String[] args) {
        System.setOut(System.err);
        try {
            // In no package, so it cannot be named here.
            Class.forName("Harness").getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (Throwable e) {
            LINES.println("FAILED " + Suite.reason(e));
            LINES.flush();
            System.exit(1);
        }
    }
}
