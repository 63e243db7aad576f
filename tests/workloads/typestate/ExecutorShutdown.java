import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Executors that are shut down after their last task, and some that get another one. */
public final class ExecutorShutdown {
    private static final int EXECUTORS = 20;
    private static final AtomicLong DONE = new AtomicLong();

    private ExecutorShutdown() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "ExecutorShutdown", ExecutorShutdown::good, ExecutorShutdown::bad);
    }

    private static void good(Protocol protocol) throws Exception {
        for (int i = 0; i < EXECUTORS; i++) {
            for (ExecutorService executor : executors()) {
                executor.submit(DONE::incrementAndGet).get();
                executor.execute(DONE::incrementAndGet);
                executor.shutdown();
                executor.shutdownNow();
                executor.awaitTermination(1, TimeUnit.MINUTES);
            }
            ScheduledThreadPoolExecutor delayed = new ScheduledThreadPoolExecutor(1);
            delayed.schedule(DONE::incrementAndGet, 1, TimeUnit.MILLISECONDS).get();
            delayed.scheduleAtFixedRate(DONE::incrementAndGet, 0, 1, TimeUnit.MILLISECONDS);
            delayed.shutdown();
            delayed.awaitTermination(1, TimeUnit.MINUTES);
        }
    }

    private static void bad(Protocol protocol) throws Exception {
        for (int i = 0; i < EXECUTORS; i++) {
            for (ExecutorService executor : executors()) {
                executor.submit(DONE::incrementAndGet).get();
                executor.shutdown();
                try {
                    executor.submit(DONE::incrementAndGet);
                    Protocol.unreachable("taken");
                } catch (RejectedExecutionException expected) {
                    DONE.incrementAndGet();
                }
                protocol.illegal(1);
            }
            // Here the policy drops the task, and nobody learns of it.
            ThreadPoolExecutor silent = new ThreadPoolExecutor(
                    1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), new ThreadPoolExecutor.DiscardPolicy());
            silent.shutdownNow();
            silent.execute(DONE::incrementAndGet);
            protocol.illegal(1);
        }
    }

    private static ExecutorService[] executors() {
        return new ExecutorService[] {
            Executors.newFixedThreadPool(1), Executors.newSingleThreadExecutor(), Executors.newScheduledThreadPool(1),
        };
    }
}
