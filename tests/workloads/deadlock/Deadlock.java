import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that block on monitors and locks which nobody ever waited for before. For each GO:
 * {@code Deadlock circle}: "left" has a Left and wants a Right, "right" has a Right and wants a Left.
 * {@code Deadlock chain}: "last" wants a Left that "middle" has, which wants a Right that "first" has, which runs.
 * {@code Deadlock abandoned}: "stuck-1" and "stuck-2" want a lock that "gone" took before it ended.
 *
 * Which step is next is a volatile counter that is spun on; that a thread is blocked is observed, never assumed.
 */
public final class Deadlock {
    private static final class Left {}

    private static final class Right {}

    private static volatile int step;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            if (args[0].equals("chain")) {
                chain();
            } else if (args[0].equals("abandoned")) {
                abandoned();
            } else {
                circle();
            }
        }
        Runtime.getRuntime().halt(0);
    }

    private static void circle() {
        final Left left = new Left();
        final Right right = new Right();
        step = 0;
        Thread one = start("left", new Runnable() {
            @Override
            public void run() {
                synchronized (left) {
                    step = 1;
                    reach(2);
                    takeRight(right);
                }
            }
        });
        reach(1);
        Thread two = start("right", new Runnable() {
            @Override
            public void run() {
                synchronized (right) {
                    step = 2;
                    takeLeft(left);
                }
            }
        });
        blocked(one);
        blocked(two);
        System.out.println("DONE deadlocked=2");
    }

    private static void chain() {
        final Left left = new Left();
        final Right right = new Right();
        step = 0;
        start("first", new Runnable() {
            @Override
            public void run() {
                synchronized (right) {
                    step = 1;
                    reach(9);
                }
            }
        });
        reach(1);
        Thread middle = start("middle", new Runnable() {
            @Override
            public void run() {
                synchronized (left) {
                    step = 2;
                    takeRight(right);
                }
            }
        });
        reach(2);
        blocked(middle);
        Thread last = start("last", new Runnable() {
            @Override
            public void run() {
                takeLeft(left);
            }
        });
        blocked(last);
        System.out.println("DONE blocked=2");
    }

    private static void abandoned() throws InterruptedException {
        final ReentrantLock lock = new ReentrantLock();
        Runnable take = new Runnable() {
            @Override
            public void run() {
                lock.lock();
            }
        };
        start("gone", take).join();
        for (String name : new String[] {"stuck-1", "stuck-2"}) {
            Thread stuck = start(name, take);
            while (stuck.getState() != Thread.State.WAITING) {
                Thread.onSpinWait();
            }
        }
        System.out.println("DONE stuck=2");
    }

    private static void takeLeft(Left left) {
        synchronized (left) {
            step = 10; // takes the left one
        }
    }

    private static void takeRight(Right right) {
        synchronized (right) {
            step = 11; // takes the right one
        }
    }

    private static Thread start(String name, Runnable what) {
        Thread thread = new Thread(what, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void reach(int wanted) {
        while (step < wanted) {
            Thread.onSpinWait();
        }
    }

    private static void blocked(Thread thread) {
        while (thread.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
        }
    }
}
