import java.io.BufferedReader;
import java.io.InputStreamReader;

/** For each line, a number, calls a tiny method so often and says how long that took: {@code DONE calls=N ns=T}. */
public final class Hot {
    private static int state;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int calls = Integer.parseInt(line);
            long begin = System.nanoTime();
            call(calls);
            System.out.println("DONE calls=" + calls + " ns=" + (System.nanoTime() - begin));
        }
    }

    private static void call(int calls) {
        for (int i = 0; i < calls; i++) {
            hot();
        }
    }

    private static void hot() {
        state++;
    }
}
