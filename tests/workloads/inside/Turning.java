import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A thread goes round in the method with which it began, and calls another class for each turn; a second one waits in its own. Both do so
 * until the program ends. For each GO a third class is called {@code expected calls} times.
 */
public final class Turning {
    private static final int ROUND = 1000;
    private static long sum;

    public static void main(String[] args) throws Exception {
        Thread wheel = new Wheel();
        Thread waiter = new Waiter();
        wheel.setDaemon(true);
        waiter.setDaemon(true);
        wheel.start();
        waiter.start();
        while (wheel.getState() != Thread.State.RUNNABLE || waiter.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            for (int i = 0; i < ROUND; i++) {
                sum += Count.one(i);
            }
            System.out.println("expected calls Turning$Count.one " + ROUND);
            System.out.println("DONE sum=" + sum);
        }
    }

    static final class Wheel extends Thread {
        private long turns = 1;

        @Override
        public void run() {
            while (turns != 0) {
                turns = Turn.next(turns);
            }
        }
    }

    static final class Turn {
        static long next(long turns) {
            return turns * 31 | 1;
        }
    }

    static final class Waiter extends Thread {
        @Override
        public synchronized void run() {
            while (true) {
                try {
                    wait();
                } catch (InterruptedException nobody) {
                    return;
                }
            }
        }
    }

    static final class Count {
        static int one(int value) {
            return value & 1;
        }
    }
}
