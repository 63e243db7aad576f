import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.CountDownLatch;

/**
 * Objects of which each says by its class what is wrong with it: {@code Sampled <objects of a class> <threads> <milliseconds per GO>}.
 * Kept keeps the protocol (open use* close), Unopened is used before it is opened, Unclosed is never closed, and so is Rare, of which there
 * are a hundredth as many. Prints for each class "expected objects Kept 1000"; with a time, it goes on making Kept until that is over.
 */
public final class Sampled {
    static class Thing {
        long sum;

        void open() {
            sum++;
        }

        void use() {
            sum += 2;
        }

        void close() {
            sum += 3;
        }
    }

    static final class Kept extends Thing {}

    static final class Unopened extends Thing {}

    static final class Unclosed extends Thing {}

    static final class Rare extends Thing {}

    private static volatile long sink;

    public static void main(String[] args) throws Exception {
        int objects = Integer.parseInt(args[0]);
        int threads = Integer.parseInt(args[1]);
        long ns = Long.parseLong(args[2]) * 1_000_000;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            CountDownLatch done = new CountDownLatch(threads);
            long[] more = new long[threads];
            for (int thread = 0; thread < threads; thread++) {
                int number = thread;
                new Thread(() -> {
                    make(objects);
                    long begin = System.nanoTime();
                    while (System.nanoTime() - begin < ns) {
                        for (int i = 0; i < 1000; i++) keep(new Kept());
                        more[number] += 1000;
                    }
                    done.countDown();
                }).start();
            }
            done.await();
            System.gc();
            long kept = (long) objects * threads;
            for (long number : more) kept += number;
            System.out.println("expected objects Sampled$Kept " + kept);
            System.out.println("expected objects Sampled$Unopened " + (long) objects * threads);
            System.out.println("expected objects Sampled$Unclosed " + (long) objects * threads);
            System.out.println("expected objects Sampled$Rare " + (long) (objects / 100) * threads);
            System.out.println("DONE expected=4");
        }
    }

    private static void make(int objects) {
        for (int i = 0; i < objects; i++) {
            keep(new Kept());
            Thing unopened = new Unopened();
            unopened.use();
            unopened.close();
            leave(new Unclosed());
            if (i % 100 == 99) leave(new Rare());
        }
    }

    private static void keep(Thing thing) {
        thing.open();
        thing.use();
        thing.use();
        thing.close();
        sink = thing.sum;
    }

    private static void leave(Thing thing) {
        thing.open();
        thing.use();
        sink = thing.sum;
    }
}
