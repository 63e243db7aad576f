import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Scanner;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;

/** Threads with queues of their own, in each of the ways in which programs have them, with a known number of things in each. */
public class OwnQueues {
    static final CountDownLatch NEVER = new CountDownLatch(1);
    static final List<Object> KEPT = new ArrayList<>();

    static <T extends Queue<Integer>> T filled(T queue, int count) {
        for (int i = 0; i < count; i++) {
            queue.add(i);
        }
        return queue;
    }

    static void busy() {
        try {
            NEVER.await();
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    static class Base extends Thread {
        private final LinkedBlockingQueue<Integer> letters = filled(new LinkedBlockingQueue<>(), 7);

        Base(String name) {
            super(name);
        }
    }

    static class Own extends Base {
        Own() {
            super("own");
        }

        @Override
        public void run() {
            busy();
        }
    }

    static class Task implements Runnable {
        private final ArrayBlockingQueue<Integer> parcels = filled(new ArrayBlockingQueue<>(100), 11);

        @Override
        public void run() {
            busy();
        }
    }

    static class Depot {
        private final LinkedBlockingDeque<Integer> belt = filled(new LinkedBlockingDeque<>(), 13);

        void work() {
            busy();
        }
    }

    static class Reaper extends Thread {
        private final ReferenceQueue<Object> dead = new ReferenceQueue<>();

        Reaper() {
            super("reaper");
            for (int i = 0; i < 5; i++) {
                Object object = new Object();
                Reference<Object> reference = new PhantomReference<>(object, dead);
                KEPT.add(reference);
                reference.enqueue();
            }
        }

        @Override
        public void run() {
            busy();
        }
    }

    static void work(PriorityBlockingQueue<Integer> queue) {
        if (queue != null) {
            busy();
        }
    }

    public static void main(String[] args) {
        List<Thread> threads = new ArrayList<>();
        PriorityBlockingQueue<Integer> caught = filled(new PriorityBlockingQueue<>(), 17);
        threads.add(new Own());
        threads.add(new Thread(new Task(), "task"));
        threads.add(new Thread(new Depot()::work, "depot"));
        threads.add(new Thread(() -> work(caught), "caught"));
        threads.add(new Reaper());
        threads.add(new Thread(OwnQueues::busy, "none"));
        for (Thread thread : threads) {
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            in.nextLine();
            System.out.println("DONE");
        }
    }
}
