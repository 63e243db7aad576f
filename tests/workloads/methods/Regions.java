import java.lang.reflect.Method;
import java.util.concurrent.locks.LockSupport;

/**
 * Regions in many threads, nested, recursive, and left by exceptions; threads go to sleep in the middle of them, and virtual threads wake on
 * whichever carrier is free. Arguments: how many threads, and "virtual" or "platform".
 */
public final class Regions {
    private static final int ROUNDS = 120;
    private static final int DEPTH = 3;
    private static volatile Throwable failure;

    private Regions() {}

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        boolean isVirtual = args[1].equals("virtual");
        Session.serve(session -> {
            Thread[] all = new Thread[threads];
            for (int i = 0; i < threads; i++) {
                all[i] = start(Regions::rounds, isVirtual);
            }
            for (Thread thread : all) {
                thread.join();
            }
            if (failure != null) {
                throw new IllegalStateException(failure);
            }
            long rounds = (long) threads * ROUNDS;
            session.expect("calls", "Regions.outer", rounds);
            session.expect("errors", "Regions.outer", rounds / 5);
            session.expect("calls", "Regions.inner", rounds * (DEPTH + 1) + rounds);
            session.expect("errors", "Regions.inner", rounds / 3 * (DEPTH + 1));
            session.expect("nesting", "outer", rounds);
            session.expect("nesting", "outer > inner", rounds * (DEPTH + 1));
            session.expect("nesting", "inner", rounds);
        });
    }

    /** Programs are compiled for a release that has no virtual threads. */
    private static Thread start(Runnable work, boolean isVirtual) throws Exception {
        if (isVirtual) {
            Method starts = Thread.class.getMethod("startVirtualThread", Runnable.class);
            return (Thread) starts.invoke(null, work);
        }
        Thread thread = new Thread(work);
        thread.start();
        return thread;
    }

    private static void rounds() {
        try {
            for (int round = 0; round < ROUNDS; round++) {
                try {
                    outer(round);
                } catch (IllegalStateException fifth) {
                    if (round % 5 != 0) {
                        throw fifth;
                    }
                }
                inner(0, 1);
            }
        } catch (Throwable e) {
            failure = e;
        }
    }

    private static void outer(int round) {
        pause(round);
        try {
            inner(DEPTH, round);
        } catch (IllegalArgumentException third) {
            pause(round + 1);
        }
        if (round % 5 == 0) {
            throw new IllegalStateException("fifth");
        }
    }

    private static void inner(int depth, int round) {
        pause(round + depth);
        if (depth > 0) {
            inner(depth - 1, round);
            pause(round);
        } else if (round % 3 == 0) {
            throw new IllegalArgumentException("third");
        }
    }

    private static void pause(int round) {
        if (round % 4 == 0) {
            LockSupport.parkNanos(1000);
        } else {
            Thread.yield();
        }
    }
}
