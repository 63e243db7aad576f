import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Selector;

/**
 * Holds the monitor that a thread is about to enter, until it sees the thread blocked. Nothing here parks or waits: who has nothing to do
 * sleeps in a selector, which no lens counts. If it spun instead, the other would often wait for a CPU that spins.
 */
final class Partner extends Thread {
    /** How often is looked what the other does before the CPU is left to it. */
    private static final int LOOKS = 1000;

    final Probe.Gate gate = new Probe.Gate();

    private final Thread other;
    private volatile boolean asked;
    private volatile boolean held;
    private volatile boolean free;
    private volatile boolean ended;
    /** Woken for each call. Only who is started has one. */
    private Selector calls;

    Partner(Thread other) {
        super(null, null, "oracle-partner", 0, false);
        this.other = other;
        setDaemon(true);
    }

    /** Called by the other, to have it at work. */
    void begin() throws IOException {
        calls = Selector.open();
        start();
    }

    /** Called by the other: returns when the partner holds the monitor. */
    void hold() {
        while (held) {
            Thread.onSpinWait();
        }
        asked = true;
        calls.wakeup();
        while (!held) {
            Thread.onSpinWait();
        }
    }

    /** Called by the other right before it enters: from now on the partner waits for it to be blocked. */
    void release() {
        free = true;
    }

    void end() {
        ended = true;
        if (calls != null) {
            calls.wakeup();
        }
    }

    @Override
    public void run() {
        try (Selector own = calls) {
            while (!ended) {
                if (asked) {
                    asked = false;
                    holdUntilBlocked();
                } else {
                    own.select();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void holdUntilBlocked() throws IOException {
        synchronized (gate) {
            held = true;
            for (int look = 1; !free || other.getState() != State.BLOCKED; look++) {
                if (look % LOOKS == 0) {
                    calls.select(1);
                }
            }
            free = false;
        }
        held = false;
    }
}
