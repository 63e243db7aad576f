/** 64 threads that call the same method, worker-N (N + 1) x 100 times, at the same time. */
public final class ManyThreads {
    private static final int THREADS = 64;
    private static final int CALLS = 100;

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            Worker[] workers = new Worker[THREADS];
            for (int i = 0; i < THREADS; i++) {
                workers[i] = new Worker(i, (i + 1) * CALLS);
            }
            for (Worker worker : workers) {
                worker.start();
            }
            for (Worker worker : workers) {
                worker.join();
            }
            for (Worker worker : workers) {
                session.expect("thread_calls", worker.getName() + ":ManyThreads$Worker.step", worker.calls);
            }
            session.expect("calls", "ManyThreads$Worker.run", THREADS);
            // Nothing is said of run: its loop may be compiled while it runs and go on in another frame, which looks as if an
            // exception had ended the first one.
            session.expect("errors", "ManyThreads$Worker.step", 0);
            session.expect("calls", "ManyThreads$Worker.step", (long) CALLS * THREADS * (THREADS + 1) / 2);
            session.expect("edge", "ManyThreads$Worker.run->ManyThreads$Worker.step", (long) CALLS * THREADS * (THREADS + 1) / 2);
        });
    }

    private static final class Worker extends Thread {
        private final int calls;
        private long sum;

        Worker(int number, int calls) {
            super("worker-" + number);
            this.calls = calls;
        }

        @Override
        public void run() {
            for (int i = 0; i < calls; i++) {
                step(i);
            }
        }

        void step(int i) {
            sum += i;
        }
    }
}
