/*
 * incident: The sizes of folders are added up by tasks that wait for tasks of the same pool of four threads, which is full of those that wait.
 * names: starved-pool FolderSize.measure
 * jfr: none
 */
package pools;

import incidents.Incident;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

public final class FutureInOwnPool {
    /** A made-up tree of folders, three levels deep. */
    static final class FolderSize implements Callable<Long> {
        private final ExecutorService pool;
        private final String path;
        private final int depth;

        FolderSize(ExecutorService pool, String path, int depth) {
            this.pool = pool;
            this.path = path;
            this.depth = depth;
        }

        @Override
        public Long call() throws Exception {
            Thread.sleep(20);
            return depth == 0 ? path.length() : measure(children());
        }

        private long measure(Stream<FolderSize> folders) throws ExecutionException, InterruptedException {
            long sum = 0;
            for (Future<Long> size : folders.map(pool::submit).collect(Collectors.toList())) {
                sum += size.get();
            }
            return sum;
        }

        private Stream<FolderSize> children() {
            return IntStream.range(0, 4).mapToObj(i -> new FolderSize(pool, path + "/" + i, depth - 1));
        }
    }

    public static void main(String[] args) throws Exception {
        AtomicInteger number = new AtomicInteger();
        ExecutorService scanners =
            Executors.newFixedThreadPool(4, task -> new Thread(task, "scan-" + number.getAndIncrement()));
        Future<Long> home = scanners.submit(new FolderSize(scanners, "/home", 3));
        Thread.sleep(500);
        Incident.ready();
        System.err.println("size: " + home.get());
    }
}
