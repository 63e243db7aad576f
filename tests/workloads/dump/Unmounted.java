import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Virtual threads that stand still, none of them mounted: {@code Unmounted <crowd>} wait for a lock that "holder" has, as many sleep
 * ten calls deep, and "taker" waits for an element of a queue. The crowd at the lock is an executor's; the others were started by the API
 * of Thread. Each GO moves all objects. Run it on 21 and later.
 */
public final class Unmounted {
    private static final int DEPTH = 10;
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static final LinkedBlockingQueue<String> QUEUE = new LinkedBlockingQueue<>();
    private static final List<Thread> ALL = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        int crowd = Integer.parseInt(args[0]);
        start(Unmounted::hold);
        await(Thread.State.WAITING);
        ExecutorService executor =
                (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        for (int i = 0; i < crowd; i++) {
            executor.execute(() -> {
                synchronized (ALL) {
                    ALL.add(Thread.currentThread());
                }
                LOCK.lock();
            });
            start(() -> sleep(DEPTH));
        }
        start(Unmounted::take);
        while (true) {
            synchronized (ALL) {
                if (ALL.size() == 2 * crowd + 2) {
                    break;
                }
            }
            Thread.sleep(1);
        }
        await(Thread.State.WAITING, Thread.State.TIMED_WAITING);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            System.gc();
            System.out.println("DONE crowd=" + crowd);
        }
    }

    private static void start(Runnable task) throws Exception {
        Thread thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, task);
        synchronized (ALL) {
            ALL.add(thread);
        }
    }

    private static void await(Thread.State... states) throws Exception {
        List<Thread> all;
        synchronized (ALL) {
            all = new ArrayList<>(ALL);
        }
        for (Thread thread : all) {
            while (!Arrays.asList(states).contains(thread.getState())) {
                Thread.sleep(1);
            }
        }
    }

    private static void hold() {
        Thread.currentThread().setName("holder");
        LOCK.lock();
        while (true) {
            LockSupport.park();
        }
    }

    private static void sleep(int depth) {
        if (depth > 1) {
            sleep(depth - 1);
            return;
        }
        try {
            Thread.sleep(86_400_000);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private static void take() {
        Thread.currentThread().setName("taker");
        try {
            QUEUE.take();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
