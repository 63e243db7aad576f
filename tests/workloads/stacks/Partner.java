/** Holds the monitor that its worker is about to enter, until it sees the worker blocked. Nothing here parks or waits. */
final class Partner extends Thread {
    private final Worker worker;
    private volatile boolean asked;
    private volatile boolean held;
    private volatile boolean free;
    private volatile boolean ended;

    Partner(Worker worker) {
        super("oracle-partner");
        this.worker = worker;
        setDaemon(true);
    }

    /** Called by the worker: returns when the partner holds the monitor. */
    void hold() {
        while (held) {
            Thread.onSpinWait();
        }
        asked = true;
        while (!held) {
            Thread.onSpinWait();
        }
    }

    /** Called by the worker right before it enters: from now on the partner waits for it to be blocked. */
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
            synchronized (worker.gate) {
                held = true;
                while (!free || worker.getState() != State.BLOCKED) {
                    Thread.onSpinWait();
                }
                free = false;
            }
            held = false;
        }
    }
}
