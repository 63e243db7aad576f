import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * For each line, a number, calls a tiny method so often and says how long that took, and how much of a CPU's time:
 * {@code DONE calls=N ns=T cpu_ns=T}.
 */
public final class Hot {
    private static int state;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        System.out.println("READY");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            int calls = Integer.parseInt(line);
            long begin = System.nanoTime();
            long cpuBegin = threads.getCurrentThreadCpuTime();
            call(calls);
            long cpu = threads.getCurrentThreadCpuTime() - cpuBegin;
            System.out.println("DONE calls=" + calls + " ns=" + (System.nanoTime() - begin) + " cpu_ns=" + cpu);
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
