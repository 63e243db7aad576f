import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

/**
 * Parks on stacks of which no two are equal, and does not wait: an interrupted thread is never parked.
 * {@code Distinct <stacks per GO> <calls deep> <stacks per second>}. Each call goes to one of eight methods; the outermost
 * seven say the number of the stack, to the base of eight, and the others follow from it by chance.
 */
public final class Distinct {
    private abstract static class Step {
        abstract void go(long path, int below);
    }

    private static final Step[] STEPS = {
        new Step() {
            @Override void go(long path, int below) {
                if (below == 0) LockSupport.park(); else STEPS[(int) path & 7].go(Long.rotateRight(path, 3), below - 1);
            }
        },
        new Step() {
            @Override void go(long path, int below) {
                if (below == 0) LockSupport.park(); else STEPS[(int) path & 7].go(Long.rotateRight(path, 3), below - 1);
            }
        },
        new Step() {
            @Override void go(long path, int below) {
                if (below == 0) LockSupport.park(); else STEPS[(int) path & 7].go(Long.rotateRight(path, 3), below - 1);
            }
        },
        new Step() {
            @Override void go(long path, int below) {
                if (below == 0) LockSupport.park(); else STEPS[(int) path & 7].go(Long.rotateRight(path, 3), below - 1);
            }
        },
        new Step() {
            @Override void go(long path, int below) {
                if (below == 0) LockSupport.park(); else STEPS[(int) path & 7].go(Long.rotateRight(path, 3), below - 1);
            }
        },
        new Step() {
            @Override void go(long path, int below) {
                if (below == 0) LockSupport.park(); else STEPS[(int) path & 7].go(Long.rotateRight(path, 3), below - 1);
            }
        },
        new Step() {
            @Override void go(long path, int below) {
                if (below == 0) LockSupport.park(); else STEPS[(int) path & 7].go(Long.rotateRight(path, 3), below - 1);
            }
        },
        new Step() {
            @Override void go(long path, int below) {
                if (below == 0) LockSupport.park(); else STEPS[(int) path & 7].go(Long.rotateRight(path, 3), below - 1);
            }
        },
    };
    private static final int NUMBER_BITS = 21;
    /** Stacks between looks at the clock. */
    private static final int BATCH = 50;

    private Distinct() {}

    public static void main(String[] args) throws Exception {
        int stacks = Integer.parseInt(args[0]);
        int depth = Integer.parseInt(args[1]);
        long rate = Long.parseLong(args[2]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        // Compiled before, so that a stack's frames have the same addresses from the first to the last.
        run(stacks, depth, Long.MAX_VALUE);
        System.out.println("READY");
        while (in.readLine() != null) {
            long start = System.nanoTime();
            run(stacks, depth, rate);
            System.out.println("DONE stacks=" + stacks + " ns=" + (System.nanoTime() - start));
        }
    }

    private static void run(int stacks, int depth, long rate) throws InterruptedException {
        long start = System.nanoTime();
        Thread.currentThread().interrupt();
        for (long number = 0; number < stacks; number++) {
            if (number % BATCH == 0 && number * 1_000_000_000L / rate > System.nanoTime() - start) {
                Thread.interrupted();
                Thread.sleep(1);
                Thread.currentThread().interrupt();
            }
            long chance = number * 0x9e3779b97f4a7c15L ^ number >>> 3;
            long path = number | chance << NUMBER_BITS;
            STEPS[(int) path & 7].go(Long.rotateRight(path, 3), depth - 1);
        }
    }
}
