package jtrace.bench;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Makes iterations of a {@link Work} on request, line by line: {@code Suite CLASS SCALE}. Prints READY when the work is set
 * up, and DONE with the time and counts, or FAILED and why, for each line GO. Exits at the end of its input.
 */
public final class Suite {
    private final PrintStream lines;
    private final Work work;
    private Long fingerprint;

    private Suite(PrintStream lines, Work work) {
        this.lines = lines;
        this.work = work;
    }

    public static void main(String[] args) {
        // What the programs print is not part of the agreement.
        PrintStream lines = System.out;
        System.setOut(System.err);
        System.setProperty("java.awt.headless", "true");
        Logger.getLogger("").setLevel(Level.WARNING);
        int status = 0;
        try {
            Work work = (Work) Class.forName("jtrace.bench." + args[0]).getDeclaredConstructor().newInstance();
            work.setUp(Integer.parseInt(args[1]));
            new Suite(lines, work).answer();
        } catch (Throwable e) {
            lines.println("FAILED " + reason(e));
            status = 1;
        }
        lines.flush();
        System.exit(status);
    }

    private void answer() throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        lines.println("READY");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("GO")) {
                lines.println(iteration());
            }
        }
    }

    private String iteration() {
        try {
            Memory memory = new Memory();
            long start = System.nanoTime();
            work.iterate();
            long time = System.nanoTime() - start;
            String words = memory.words();
            Map<String, Long> counts = new TreeMap<>();
            long found = work.check(counts);
            if (fingerprint == null) {
                fingerprint = found;
            } else if (fingerprint != found) {
                throw new Work.Wrong("result " + found + " differs from the first, which was " + fingerprint);
            }
            StringBuilder line = new StringBuilder("DONE ns=" + time + " valid=true").append(words);
            counts.forEach((name, count) -> line.append(' ').append(name).append('=').append(count));
            return line.toString();
        } catch (Throwable e) {
            return "FAILED " + reason(e);
        }
    }

    /** One line, however many the exception has. */
    static String reason(Throwable e) {
        Throwable cause = e;
        while (cause instanceof java.lang.reflect.InvocationTargetException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        cause.printStackTrace();
        String text = cause instanceof Work.Wrong ? cause.getMessage() : cause.toString();
        return text.replaceAll("\\s+", " ");
    }
}
