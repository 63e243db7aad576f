import java.util.Scanner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.RecursiveAction;

/** Pools whose workers are busy, with a known number of tasks that wait: from outside, from a worker, and parts of a task that is split. */
public class ForkJoin {
    static final CountDownLatch NEVER = new CountDownLatch(1);

    static void busy(CountDownLatch begun) {
        begun.countDown();
        try {
            NEVER.await();
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    static class Part extends RecursiveAction {
        @Override
        protected void compute() {
            throw new AssertionError("nobody is left to run it");
        }
    }

    static class Whole extends RecursiveAction {
        private final CountDownLatch begun;

        Whole(CountDownLatch begun) {
            this.begun = begun;
        }

        @Override
        protected void compute() {
            for (int i = 0; i < 5; i++) {
                new Part().fork();
            }
            busy(begun);
        }
    }

    static ForkJoinPool pool(String name, int threads) {
        return new ForkJoinPool(threads, pool -> {
            ForkJoinWorkerThread worker = ForkJoinPool.defaultForkJoinWorkerThreadFactory.newThread(pool);
            worker.setName(name + "-" + worker.getPoolIndex());
            return worker;
        }, null, true);
    }

    /** Tasks come from outside, where several threads put them into several queues. */
    static ForkJoinPool outside() throws InterruptedException {
        ForkJoinPool pool = pool("outside", 2);
        CountDownLatch begun = new CountDownLatch(2);
        for (int i = 0; i < 2; i++) {
            pool.execute(() -> busy(begun));
        }
        begun.await();
        for (int i = 0; i < 7; i++) {
            Thread put = new Thread(() -> CompletableFuture.runAsync(() -> busy(begun), pool));
            put.start();
            put.join();
        }
        return pool;
    }

    /** A worker itself has put tasks into its queue. */
    static ForkJoinPool inside() throws InterruptedException {
        ForkJoinPool pool = pool("inside", 1);
        CountDownLatch begun = new CountDownLatch(1);
        pool.execute(() -> {
            for (int i = 0; i < 3; i++) {
                pool.execute(() -> busy(begun));
            }
            busy(begun);
        });
        begun.await();
        return pool;
    }

    /** Parts of a task are no backlog. */
    static ForkJoinPool split() throws InterruptedException {
        ForkJoinPool pool = pool("split", 1);
        CountDownLatch begun = new CountDownLatch(1);
        pool.execute(new Whole(begun));
        begun.await();
        return pool;
    }

    public static void main(String[] args) throws InterruptedException {
        ForkJoinPool[] pools = {outside(), inside(), split()};
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            StringBuilder queued = new StringBuilder("DONE");
            for (ForkJoinPool pool : pools) {
                queued.append(' ').append(pool.getQueuedTaskCount() + pool.getQueuedSubmissionCount());
            }
            System.out.println(queued);
        }
    }
}
