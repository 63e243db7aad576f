/*
 * incident: A monitoring agent dumps all 200 threads with their locks fifty times a second.
 * names: safepoint-frequent|safepoint-long ThreadDumps
 * load: cpu
 * jfr: jdk.ExecuteVMOperation ThreadDump
 */
import incidents.Incident;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public final class ThreadDumps {
    private static final int THREADS = 200;

    private final ThreadMXBean bean = ManagementFactory.getThreadMXBean();
    private volatile int blocked;

    private void lookForBlocked() {
        int count = 0;
        for (ThreadInfo info : bean.dumpAllThreads(true, true)) {
            if (info.getThreadState() == Thread.State.BLOCKED) {
                count++;
            }
        }
        blocked = count;
    }

    private void monitor() {
        try {
            while (blocked < THREADS) {
                lookForBlocked();
                Thread.sleep(20);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void session(CountDownLatch open, int depth) throws InterruptedException {
        if (depth == 0) {
            open.countDown();
            Incident.untilStdinEnds();
        }
        session(open, depth - 1);
    }

    public static void main(String[] args) throws Exception {
        ExecutorService sessions = Executors.newFixedThreadPool(THREADS);
        CountDownLatch open = new CountDownLatch(THREADS);
        for (int i = 0; i < THREADS; i++) {
            sessions.submit(() -> {
                session(open, 15);
                return null;
            });
        }
        open.await();
        new Thread(new ThreadDumps()::monitor, "monitor").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
