import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * A loop that calls a tiny method: a multiplication and an exclusive or on a field. For each line, a number of calls, it makes so many and
 * says how long they took: {@code DONE calls=N ns=T}.
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
        HotLoop loop = new HotLoop();
        System.out.println("READY");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            long turns = Long.parseLong(line) / TURN;
            long begin = System.nanoTime();
            for (long i = 0; i < turns; i++) {
                loop.turn();
            }
            System.out.println("DONE calls=" + turns * TURN + " ns=" + (System.nanoTime() - begin) + " odd=" + (loop.state & 1));
        }
    }

    private void turn() {
        for (int i = 0; i < TURN; i++) {
            step(i);
        }
    }

    private void step(long value) {
        state = (state ^ value) * 31 + 7;
    }
}
