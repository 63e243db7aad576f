import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.LockSupport;

/**
 * Parks on the main thread with as many frames of its own below as the line on stdin says, and does not wait: an interrupted
 * thread is never parked. {@code Deep <parks>}: about so many for each line, fewer where the stack is deep.
 *
 * <p>Each call has any of eight receivers at first, so no compiler puts one into another: one is one frame in every mode.
 * Later all stacks of one depth are the same.
 */
public final class Deep {
    private abstract static class Step {
        abstract void go(int below);
    }

    private static final Step[] STEPS = {
        new Step() { @Override void go(int below) { if (below <= 1) LockSupport.park(); else next(below).go(below - 1); } },
        new Step() { @Override void go(int below) { if (below <= 1) LockSupport.park(); else next(below).go(below - 1); } },
        new Step() { @Override void go(int below) { if (below <= 1) LockSupport.park(); else next(below).go(below - 1); } },
        new Step() { @Override void go(int below) { if (below <= 1) LockSupport.park(); else next(below).go(below - 1); } },
        new Step() { @Override void go(int below) { if (below <= 1) LockSupport.park(); else next(below).go(below - 1); } },
        new Step() { @Override void go(int below) { if (below <= 1) LockSupport.park(); else next(below).go(below - 1); } },
        new Step() { @Override void go(int below) { if (below <= 1) LockSupport.park(); else next(below).go(below - 1); } },
        new Step() { @Override void go(int below) { if (below <= 1) LockSupport.park(); else next(below).go(below - 1); } },
    };
    /** Frames of a park that costs as much as the calls down to it. */
    private static final int CHEAP = 32;

    private static int salt;

    private Deep() {}

    public static void main(String[] args) throws Exception {
        int parks = Integer.parseInt(args[0]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Thread.currentThread().interrupt();
        run(12, 2 * parks, true);
        System.out.println("READY");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int depth = Integer.parseInt(line);
            int count = Math.max(1000, (int) ((long) parks * CHEAP / Math.max(CHEAP, depth)));
            run(depth, count, false);
            System.out.println("DONE parks=" + count);
        }
    }

    private static void run(int depth, int count, boolean mixed) {
        for (int i = 0; i < count; i++) {
            salt = mixed ? i : 0;
            next(0).go(depth);
        }
    }

    /** Any of the eight; the same one again for the same number, once the program is warm. */
    private static Step next(int below) {
        int number = (below + salt) * 0x9e3779b9;
        number = (number ^ number >>> 15) * 0x85ebca6b;
        return STEPS[(number ^ number >>> 13) & 7];
    }
}
