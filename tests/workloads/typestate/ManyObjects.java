import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Many files of which some are used wrongly, and which: each is begun by one thread, lies in a window while collections move it, and is
 * finished by whichever thread takes it out. Nobody else tells of it, so the numbers are known.
 *
 * <p>Arguments: how many files, how many threads, and "virtual" or "platform".
 */
public final class ManyObjects {
    private static final int WINDOW = 4001;
    private static final int COLLECTIONS = 6;

    /** A file that knows how it is to be used. */
    private static final class Kept {
        final File file;
        final int kind;

        Kept(int kind) {
            this.file = new File(3);
            this.kind = kind;
        }
    }

    private static final AtomicReferenceArray<Kept> LIVE = new AtomicReferenceArray<>(WINDOW);
    private static final AtomicInteger NEXT = new AtomicInteger();
    private static final AtomicLong EVENTS = new AtomicLong();
    private static final AtomicLong OBJECTS = new AtomicLong();
    private static final AtomicLong ILLEGAL = new AtomicLong();
    private static final AtomicLong DEAD = new AtomicLong();
    private static volatile Object garbage;

    private ManyObjects() {}

    public static void main(String[] args) throws Exception {
        int files = Integer.parseInt(args[0]);
        int threads = Integer.parseInt(args[1]);
        boolean isVirtual = args[2].equals("virtual");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            run(files, threads, isVirtual);
            System.gc();
            System.out.println("expected events File " + EVENTS);
            System.out.println("expected objects File " + OBJECTS);
            System.out.println("expected illegal File " + ILLEGAL);
            System.out.println("expected dead File " + DEAD);
            System.out.println("DONE expected=4");
        }
    }

    private static void run(int files, int threads, boolean isVirtual) throws Exception {
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            all[i] = start(() -> work(files), isVirtual);
        }
        for (Thread thread : all) {
            thread.join();
        }
        for (int i = 0; i < WINDOW; i++) {
            finish(LIVE.getAndSet(i, null));
        }
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

    private static void work(int files) {
        for (int number = NEXT.getAndIncrement(); number < files; number = NEXT.getAndIncrement()) {
            int mixed = number * 0x9e3779b1;
            Kept kept = new Kept(mixed >>> 27);
            begin(kept);
            finish(LIVE.getAndSet((mixed >>> 3) % WINDOW, kept));
            if (number % 16 == 0) {
                garbage = new byte[1024];
            }
            if (number % (files / COLLECTIONS + 1) == files / COLLECTIONS) {
                System.gc();
            }
        }
    }

    /** What is done to a file first. */
    private static void begin(Kept kept) {
        File file = kept.file;
        switch (kept.kind) {
            case 0:
                // Nobody ever hears of it.
                return;
            case 1:
                file.read();
                told(1, 1, 1, 0);
                return;
            default:
                file.open("");
                told(1, 1, 0, 0);
        }
    }

    /** And what is done to it last, perhaps by another thread. */
    private static void finish(Kept kept) {
        if (kept == null || kept.kind == 0) {
            return;
        }
        File file = kept.file;
        switch (kept.kind) {
            case 1:
                // It was illegal before, and no more is said.
                file.close();
                told(1, 0, 0, 0);
                return;
            case 2:
                file.read();
                told(1, 0, 0, 1);
                return;
            case 3:
                file.open("");
                told(1, 0, 1, 0);
                return;
            case 4:
                file.close();
                file.close();
                told(2, 0, 1, 0);
                return;
            case 5:
                file.close();
                file.open("");
                told(2, 0, 0, 1);
                return;
            case 6:
                file.close();
                file.open("");
                file.eof();
                file.close();
                told(4, 0, 0, 0);
                return;
            default:
                file.read();
                file.close();
                told(2, 0, 0, 0);
        }
    }

    private static void told(int events, int objects, int illegal, int dead) {
        EVENTS.addAndGet(events);
        OBJECTS.addAndGet(objects);
        ILLEGAL.addAndGet(illegal);
        DEAD.addAndGet(dead);
    }
}
