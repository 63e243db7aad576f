import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

/**
 * Two classes whose methods are hot before READY and stay so: one to be chosen, one to be left alone. Run with -Xbatch, so
 * that what is hot is compiled. A thread goes on calling both until the end, a million times a second at most, so that the CPU is left to
 * others as well; each line of input makes 1000 calls more.
 */
public final class Arming {
    static final class Chosen {
        private int state;

        int step(int i) {
            state = state * 31 + i;
            return inner(i);
        }

        int inner(int i) {
            int sum = 0;
            for (int k = 0; k < 20; k++) {
                sum += k * i ^ state;
            }
            return sum;
        }
    }

    static final class Other {
        private int state;

        int step(int i) {
            int sum = 0;
            for (int k = 0; k < 20; k++) {
                sum += k * i ^ state;
            }
            state += sum;
            return sum;
        }
    }

    private static final Chosen CHOSEN = new Chosen();
    private static final Other OTHER = new Other();
    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        run(200);
        Thread goesOn = new Thread(() -> {
            while (true) {
                run(1);
                LockSupport.parkNanos(1_000_000);
            }
        });
        goesOn.setDaemon(true);
        goesOn.start();
        System.out.println("READY");
        while (in.readLine() != null) {
            run(1);
            System.out.println("DONE steps=1000");
        }
    }

    private static void run(int rounds) {
        for (int round = 0; round < rounds; round++) {
            sink += calls(CHOSEN, OTHER);
        }
    }

    private static long calls(Chosen chosen, Other other) {
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            sum += chosen.step(i) + other.step(i);
        }
        return sum;
    }
}
