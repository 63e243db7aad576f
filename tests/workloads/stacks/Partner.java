/** Holds the monitor that a thread is about to enter, until it sees the thread blocked. Nothing here parks or waits. */
final class Partner extends Thread {
    final Probe.Gate gate = new Probe.Gate();

    private final Thread other;
    private volatile boolean asked;
    private volatile boolean held;
    private volatile boolean free;
    private volatile boolean ended;

    Partner(Thread other) {
        super(null, null, "oracle-partner", 0, false);
        this.other = other;
        setDaemon(true);
    }

    /** Called by the other: returns when the partner holds the monitor. */
    void hold() {
        while (held) {
            Thread.onSpinWait();
        }
        asked = true;
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
    }

    @Override
    public void run() {
        while (!ended) {
            if (!asked) {
                Thread.onSpinWait();
                continue;
            }
            asked = false;
            synchronized (gate) {
                held = true;
                while (!free || other.getState() != State.BLOCKED) {
                    Thread.onSpinWait();
                }
                free = false;
            }
            held = false;
        }
    }
}
