import java.util.concurrent.SynchronousQueue;

/**
 * Threads whose names differ only behind the 15th byte: two that are there from the beginning and work on request, and at each GO
 * eight that live no longer than their calls. Of either kind one half are daemons.
 */
public final class Named {
    private static final String COMMON = "worker-of-the-shop-";
    private static final int SHORT_LIVED = 8;
    private static long sink;

    public static void main(String[] args) throws Exception {
        Worker[] workers = {new Worker("resident-a", false), new Worker("resident-b", true)};
        for (Worker worker : workers) {
            worker.start();
        }
        Session.serve(session -> {
            long daemons = 0;
            long all = 0;
            for (int i = 0; i < workers.length; i++) {
                workers[i].calls.put(100 * (i + 1));
                workers[i].done.take();
                all += 100 * (i + 1);
                session.expect("thread_calls", workers[i].getName(), 100 * (i + 1));
            }
            daemons += 200;
            for (int i = 0; i < SHORT_LIVED; i++) {
                int calls = 10 + i;
                Thread thread = new Thread(() -> work(calls), COMMON + "short-lived-" + i);
                thread.setDaemon(i % 2 == 1);
                thread.start();
                thread.join();
                all += calls;
                daemons += i % 2 == 1 ? calls : 0;
                session.expect("thread_calls", thread.getName(), calls);
            }
            session.expect("daemons", "Named.step", daemons);
            session.expect("calls", "Named.step", all);
        });
        System.exit(0);
    }

    static void work(int calls) {
        for (int i = 0; i < calls; i++) {
            step(i);
        }
    }

    static void step(int i) {
        sink += i;
    }

    private static final class Worker extends Thread {
        final SynchronousQueue<Integer> calls = new SynchronousQueue<>();
        final SynchronousQueue<Boolean> done = new SynchronousQueue<>();

        Worker(String name, boolean daemon) {
            super(COMMON + name);
            setDaemon(daemon);
        }

        @Override
        public void run() {
            try {
                while (true) {
                    work(calls.take());
                    done.put(true);
                }
            } catch (InterruptedException e) {
                // The program ends.
            }
        }
    }
}
