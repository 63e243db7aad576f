import java.util.concurrent.atomic.AtomicLong;

/** For each GO 8,000 threads that end, one after another; each makes 3 calls and one object. */
public final class Ending {
    private static final int THREADS = 8_000;
    private static final int STEPS = 3;
    private static final AtomicLong SUM = new AtomicLong();

    /** Is allocated once by each thread. */
    static final class Made {
        final long number;

        Made(long number) {
            this.number = number;
        }
    }

    /** What a thread does. */
    static final class Worker {
        private Made made;

        void work() {
            made = new Made(SUM.get());
            for (int i = 0; i < STEPS; i++) {
                step(i);
            }
        }

        void step(int i) {
            SUM.addAndGet(made.number & i);
        }
    }

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            for (int i = 0; i < THREADS; i++) {
                Thread thread = new Thread(() -> new Worker().work());
                thread.start();
                thread.join();
            }
            session.expect("threads", "Ending", THREADS);
            session.expect("calls", "Ending$Worker.<init>", THREADS);
            session.expect("calls", "Ending$Worker.work", THREADS);
            session.expect("calls", "Ending$Worker.step", THREADS * STEPS);
            session.expect("edge", "Ending$Worker.work->Ending$Worker.step", THREADS * STEPS);
            session.expect("objects", "Ending$Made", THREADS);
        });
    }
}
