package jtrace.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.dacapo.harness.Callback;
import org.dacapo.harness.CommandLineArgs;

/**
 * Lets DaCapo iterate on request. DaCapo calls, in this order and for each iteration, {@code start} when all is prepared,
 * {@code stop} when the work is done, {@code complete} when the result was checked, and {@code runAgain}. Version 9.12 calls
 * {@code stop()}, version 23.11 {@code stop(long)}: the one that a version does not know is a method that nobody calls.
 * The timers of the superclass are not asked, because they would count the time in which this waits.
 */
public final class DacapoCallback extends Callback {
    private final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    private boolean ready;
    private boolean stopped;
    private Memory memory;
    private long start;
    private long time;
    private String words;

    public DacapoCallback(CommandLineArgs args) {
        super(args);
    }

    @Override
    public void start(String benchmark) {
        if (!ready) {
            ready = true;
            say("READY");
        }
        awaitRequest();
        stopped = false;
        memory = new Memory();
        start = System.nanoTime();
    }

    /** Version 9.12. */
    public void stop() {
        time = System.nanoTime() - start;
        words = memory.words();
        stopped = true;
    }

    /** Version 23.11. */
    public void stop(long duration) {
        stop();
    }

    @Override
    public void complete(String benchmark, boolean valid) {
        if (!stopped) {
            say("FAILED this DaCapo does not tell its callback when an iteration ends");
        } else if (!valid) {
            say("FAILED DaCapo's validation of " + benchmark + ", whose reasons are on the standard error");
        } else {
            say("DONE ns=" + time + " valid=true" + words);
        }
    }

    @Override
    public boolean runAgain() {
        return true;
    }

    private void awaitRequest() {
        try {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.equals("GO")) {
                    return;
                }
            }
        } catch (IOException e) {
            say("FAILED " + Suite.reason(e));
        }
        // What the benchmark has in its working folder is removed with that.
        System.exit(0);
    }

    private static void say(String line) {
        Dacapo.LINES.println(line);
        Dacapo.LINES.flush();
    }
}
