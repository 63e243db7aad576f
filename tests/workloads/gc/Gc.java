import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Collections of a known number. {@code Gc system 7} calls System.gc() exactly that often for each GO;
 * {@code Gc churn 512} allocates that many MiB of short-lived arrays and leaves the number of collections to the JVM.
 */
public final class Gc {
    private static final int CHUNK = 16 * 1024;
    private static final byte[][] SINK = new byte[64][];

    public static void main(String[] args) throws Exception {
        boolean system = args[0].equals("system");
        int amount = Integer.parseInt(args[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.gc();
        System.out.println("READY");
        while (in.readLine() != null) {
            if (system) {
                for (int i = 0; i < amount; i++) {
                    System.gc();
                }
                System.out.println("DONE system_gcs=" + amount);
            } else {
                long chunks = amount * 1024L * 1024 / CHUNK;
                for (long i = 0; i < chunks; i++) {
                    SINK[(int) (i % SINK.length)] = new byte[CHUNK];
                }
                System.out.println("DONE allocated_bytes=" + chunks * CHUNK);
            }
        }
    }
}
