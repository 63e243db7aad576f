import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * A loop that calls a tiny method: a multiplication and an exclusive or on a field. For each line, a number of calls and how many steps of
 * other work lie between two of them, it makes so many and says how much of a CPU's time they took: {@code DONE calls=N ns=T}.
 *
 * <p>Like a hot loop of a program it is entered again and again, so that code that was thrown away because the class was exchanged is
 * compiled again as any other: each call of {@code turn} makes {@link #TURN} calls of the method.
 */
public final class HotLoop {
    private static final int TURN = 100_000;
    private long state = 1;

    private HotLoop() {}

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        HotLoop loop = new HotLoop();
        System.out.println("READY");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            long turns = Long.parseLong(words[0]) / TURN;
            int other = Integer.parseInt(words[1]);
            long begin = threads.getCurrentThreadCpuTime();
            for (long i = 0; i < turns; i++) {
                if (other == 0) {
                    loop.turn();
                } else {
                    loop.turn(other);
                }
            }
            System.out.println("DONE calls=" + turns * TURN + " ns=" + (threads.getCurrentThreadCpuTime() - begin) + " odd=" + (loop.state & 1));
        }
    }

    private void turn() {
        for (int i = 0; i < TURN; i++) {
            step(i);
        }
    }

    private void turn(int other) {
        for (int i = 0; i < TURN; i++) {
            step(i);
            long mixed = state;
            for (int j = 0; j < other; j++) {
                mixed = (mixed ^ mixed >>> 7) * 31;
            }
            state = mixed;
        }
    }

    private void step(long value) {
        state = (state ^ value) * 31 + 7;
    }
}
