import java.io.BufferedReader;
import java.io.InputStreamReader;

/** More threads than CPUs, each of which gives its CPU to the next one all the time. {@code Switches <yields per thread and GO>}. */
public final class Switches {
    public static void main(String[] args) throws Exception {
        int yields = Integer.parseInt(args[0]);
        int threads = 2 * Runtime.getRuntime().availableProcessors() + 1;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            long start = System.nanoTime();
            Thread[] all = new Thread[threads];
            for (int i = 0; i < threads; i++) {
                all[i] = new Thread(() -> giveWay(yields), "yields-" + i);
                all[i].start();
            }
            for (Thread thread : all) {
                thread.join();
            }
            System.out.println("DONE yields=" + (long) yields * threads + " ns=" + (System.nanoTime() - start));
        }
    }

    private static void giveWay(int times) {
        for (int i = 0; i < times; i++) {
            Thread.yield();
        }
    }
}
