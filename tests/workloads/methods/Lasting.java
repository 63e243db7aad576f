import java.util.concurrent.SynchronousQueue;

/** A method that runs from the first GO until the program ends, and goes round its loop some times for each GO; and one that is called. */
public final class Lasting {
    private static final int ROUNDS = 1000;
    private static final int CALLS = 10;
    private static final SynchronousQueue<Integer> ASKED = new SynchronousQueue<>();
    private static final SynchronousQueue<Integer> DONE = new SynchronousQueue<>();
    private static Thread lasting;
    private static long sum;

    private Lasting() {}

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            if (lasting == null) {
                lasting = new Thread(Lasting::last);
                lasting.setDaemon(true);
                lasting.start();
            }
            ASKED.put(ROUNDS);
            DONE.take();
            for (int i = 0; i < CALLS; i++) {
                called();
            }
            session.expect("calls", "Lasting.called", CALLS);
            session.expect("rounds", "Lasting.last", ROUNDS);
        });
    }

    private static void last() {
        int left = 0;
        while (true) {
            if (left == 0) {
                left = next();
            }
            left--;
            round(left);
        }
    }

    private static void round(int left) {
        sum += left;
    }

    private static int next() {
        try {
            if (sum > 0) {
                DONE.put(1);
            }
            return ASKED.take();
        } catch (InterruptedException over) {
            throw new IllegalStateException(over);
        }
    }

    private static void called() {
        sum++;
    }
}
