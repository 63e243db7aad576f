/**
 * Exceptions that leave a known number of frames: across k frames, through finally blocks, out of a constructor's argument
 * (the object is made by then), out of native code of the JDK, and out of a thread's run method.
 */
public final class Exceptions {
    private static final int ROUNDS = 2000;
    private static final int FRAMES = 10;
    private static final RuntimeException FAILURE = new RuntimeException("expected", null, false, false) {};
    private static Object sink;
    private static int finallyRuns;

    /** An object whose constructor is never called. */
    static final class Unfinished {
        Unfinished(int ignored) {}
    }

    /** What ends a thread. */
    static final class Dying extends Thread {
        Dying() {
            super("dying");
            setUncaughtExceptionHandler((thread, failure) -> {});
        }

        @Override
        public void run() {
            throwing(1);
        }
    }

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            for (int i = 0; i < ROUNDS; i++) {
                catching();
                cleaning();
                unfinished();
                sink = checked(i);
            }
            Thread dying = new Dying();
            dying.start();
            dying.join();
            session.expect("calls", "Exceptions.catching", ROUNDS);
            session.expect("errors", "Exceptions.catching", 0);
            session.expect("calls", "Exceptions.throwing", (long) ROUNDS * FRAMES + 1);
            session.expect("errors", "Exceptions.throwing", (long) ROUNDS * FRAMES + 1);
            session.expect("calls", "Exceptions.cleaning", ROUNDS);
            session.expect("errors", "Exceptions.cleaning", 0);
            session.expect("calls", "Exceptions.cleaned", (long) ROUNDS * FRAMES);
            session.expect("errors", "Exceptions.cleaned", (long) ROUNDS * FRAMES);
            session.expect("calls", "Exceptions.finished", (long) ROUNDS * FRAMES);
            session.expect("errors", "Exceptions.finished", 0);
            session.expect("calls", "Exceptions.unfinished", ROUNDS);
            session.expect("calls", "Exceptions.failing", ROUNDS);
            session.expect("errors", "Exceptions.failing", ROUNDS);
            session.expect("calls", "Exceptions$Unfinished.<init>", 0);
            session.expect("objects_as_written", "Exceptions$Unfinished", ROUNDS);
            session.expect("calls", "Exceptions.checked", ROUNDS);
            session.expect("errors", "Exceptions.checked", 0);
            session.expect("calls", "Exceptions.parsed", ROUNDS);
            session.expect("errors", "Exceptions.parsed", ROUNDS / 2);
            session.expect("errors", "Exceptions$Dying.run", 1);
        });
    }

    static void catching() {
        try {
            throwing(FRAMES);
        } catch (RuntimeException expected) {
            sink = expected;
        }
    }

    static void throwing(int frames) {
        if (frames <= 1) {
            throw FAILURE;
        }
        throwing(frames - 1);
        sink = null;
    }

    static void cleaning() {
        try {
            cleaned(FRAMES);
        } catch (RuntimeException expected) {
            sink = expected;
        }
    }

    static void cleaned(int frames) {
        try {
            if (frames <= 1) {
                throw FAILURE;
            }
            cleaned(frames - 1);
        } finally {
            finished();
        }
    }

    static void finished() {
        finallyRuns++;
    }

    static void unfinished() {
        try {
            sink = new Unfinished(failing());
        } catch (RuntimeException expected) {
            sink = expected;
        }
    }

    static int failing() {
        throw FAILURE;
    }

    static Object checked(int i) {
        try {
            return parsed(i % 2 == 0 ? "12" : "twelve");
        } catch (NumberFormatException expected) {
            return expected;
        }
    }

    static Integer parsed(String text) {
        return Integer.valueOf(text);
    }
}
