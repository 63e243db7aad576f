package jtrace.bench;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;

/**
 * Makes one kind of event over and over, as often as it is told: {@code Micro KIND NUMBER}. Prints READY, then for each line GO
 * what became of an iteration: DONE with its time and its counts, or FAILED and why. Exits at the end of its input.
 *
 * <p>Within an iteration nothing happens that makes events of the same kind beside those that are counted.
 */
public final class Micro {
    private static final com.sun.management.ThreadMXBean THREADS =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** One kind of event. */
    private interface Kind {
        /** Makes so many events. Only this is timed. */
        void make(int number) throws Exception;

        /** Says what is wrong with what was made, or nothing. */
        String wrong(int number);
    }

    private Micro() {}

    public static void main(String[] args) throws Exception {
        PrintStream lines = System.out;
        int number = Integer.parseInt(args[1]);
        Kind kind = kind(args[0]);
        String counts = counts(args[0], number);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        lines.println("READY");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.equals("GO")) {
                lines.println(iteration(kind, number, counts));
            }
        }
    }

    private static String iteration(Kind kind, int number, String counts) {
        try {
            long start = System.nanoTime();
            kind.make(number);
            long time = System.nanoTime() - start;
            String wrong = kind.wrong(number);
            return wrong == null ? "DONE ns=" + time + " valid=true" + counts : "FAILED " + wrong;
        } catch (Throwable e) {
            return "FAILED " + e.toString().replaceAll("\\s+", " ");
        }
    }

    private static Kind kind(String name) throws Exception {
        switch (name) {
            case "park": return new Park();
            case "sleep": return new Sleep();
            case "enter": return new Enter();
            case "load": return new Load();
            case "thread": return new Start();
            case "gc": return new Collect();
            case "alloc": return new Allocate();
            case "call": return new Call();
            case "safepoint": return new Safepoint();
            case "idle": return new Idle();
            default: throw new IllegalArgumentException("no kind of event is named " + name);
        }
    }

    private static String counts(String name, int number) {
        switch (name) {
            case "park": return " parks=" + number + " unparks=" + number;
            case "sleep": return " sleeps=" + number;
            case "enter": return " contended_enters=" + number;
            case "load": return " loads=" + number;
            case "thread": return " threads=" + number;
            case "gc": return " collections=" + number;
            case "alloc": return " objects=" + number;
            case "call": return " calls=" + number;
            case "safepoint": return " safepoints=" + number;
            default: return "";
        }
    }

    private static String differs(String what, long expected, long found) {
        return expected == found ? null : what + ": " + expected + " expected, " + found + " found";
    }

    /** Parks that return at once, because the permit is there: nothing but the call is measured. */
    private static final class Park implements Kind {
        private int made;

        public void make(int number) {
            Thread self = Thread.currentThread();
            for (made = 0; made < number; made++) {
                LockSupport.unpark(self);
                LockSupport.park();
            }
        }

        public String wrong(int number) {
            return differs("parks", number, made);
        }
    }

    /** Sleeps of no time at all, for the same reason. */
    private static final class Sleep implements Kind {
        private int made;

        public void make(int number) throws Exception {
            for (made = 0; made < number; made++) {
                Thread.sleep(0);
            }
        }

        public String wrong(int number) {
            return differs("sleeps", number, made);
        }
    }

    /** This thread holds the monitor until the other one is blocked on it, once a round: so each round has one contended enter. */
    private static final class Enter implements Kind {
        private final Object monitor = new Object();
        private volatile int begun;
        private volatile int ended;
        private volatile long blocked;

        public void make(int number) throws Exception {
            begun = 0;
            ended = 0;
            Thread other = new Thread(() -> enter(number), "enters");
            other.start();
            for (int round = 1; round <= number; round++) {
                synchronized (monitor) {
                    begun = round;
                    while (other.getState() != Thread.State.BLOCKED) {
                        Thread.onSpinWait();
                    }
                }
                while (ended != round) {
                    Thread.onSpinWait();
                }
            }
            // To join would be to enter the monitor of the thread, which it holds at its end.
            while (other.getState() != Thread.State.TERMINATED) {
                Thread.onSpinWait();
            }
        }

        private void enter(int number) {
            for (int round = 1; round <= number; round++) {
                while (begun != round) {
                    Thread.onSpinWait();
                }
                synchronized (monitor) {
                    begun = 0;
                }
                ended = round;
            }
            blocked = THREADS.getThreadInfo(Thread.currentThread().getId()).getBlockedCount();
        }

        public String wrong(int number) {
            return differs("times that the JVM says the thread was blocked", number, blocked);
        }
    }

    /** Defines classes that are empty but for their names. */
    private static final class Load implements Kind {
        private int made;

        public void make(int number) throws Exception {
            Definer definer = new Definer();
            for (made = 0; made < number; made++) {
                definer.define("Made" + made);
            }
        }

        public String wrong(int number) {
            return differs("classes", number, made);
        }
    }

    private static final class Definer extends ClassLoader {
        void define(String name) throws IOException {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream(128);
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeInt(0xCAFEBABE);
            out.writeInt(55);
            // The pool of constants: a class 1 named by 2, its superclass 3 named by 4.
            out.writeShort(5);
            out.writeByte(7);
            out.writeShort(2);
            out.writeByte(1);
            out.writeUTF(name);
            out.writeByte(7);
            out.writeShort(4);
            out.writeByte(1);
            out.writeUTF("java/lang/Object");
            // Public, with modern semantics of super; no interfaces, fields, methods, attributes.
            out.writeShort(0x21);
            out.writeShort(1);
            out.writeShort(3);
            out.writeLong(0);
            byte[] file = bytes.toByteArray();
            defineClass(name, file, 0, file.length);
        }
    }

    /** Starts threads that end at once, one after the other. */
    private static final class Start implements Kind {
        private int made;
        private long before;
        private long after;

        public void make(int number) throws Exception {
            before = THREADS.getTotalStartedThreadCount();
            made = 0;
            for (int i = 0; i < number; i++) {
                Thread thread = new Thread(() -> made++);
                thread.start();
                thread.join();
            }
            after = THREADS.getTotalStartedThreadCount();
        }

        public String wrong(int number) {
            String ran = differs("threads that ran", number, made);
            return ran != null ? ran : differs("threads that the JVM says were started", number, after - before);
        }
    }

    /** Asks for collections, each of which is one of the whole heap. */
    private static final class Collect implements Kind {
        private long before;

        public void make(int number) {
            before = collections();
            for (int i = 0; i < number; i++) {
                System.gc();
            }
        }

        /** Some collectors clear the young generation first, which is a collection of its own in these numbers. */
        public String wrong(int number) {
            long found = collections() - before;
            return found >= number ? null : differs("collections that the JVM says were made", number, found);
        }

        private static long collections() {
            return ManagementFactory.getGarbageCollectorMXBeans().stream()
                .mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
        }
    }

    /** What is allocated: two words of head and one of data. */
    public static final class Cell {
        final long value;

        Cell(long value) {
            this.value = value;
        }
    }

    /** Objects that another thread could see, so that the compiler cannot take them away. */
    private static final class Allocate implements Kind {
        private static volatile Cell seen;
        private long before;
        private long after;

        public void make(int number) {
            long self = Thread.currentThread().getId();
            before = THREADS.getThreadAllocatedBytes(self);
            for (int i = 0; i < number; i++) {
                seen = new Cell(i);
            }
            after = THREADS.getThreadAllocatedBytes(self);
        }

        public String wrong(int number) {
            if (after - before < 16L * number) {
                return "only " + (after - before) + " bytes were allocated for " + number + " objects";
            }
            return differs("last value", number - 1, seen.value);
        }
    }

    /** Calls of one method that is told not to be inlined, as its JVM is started. */
    private static final class Call implements Kind {
        private int result;

        public void make(int number) {
            int value = 1;
            for (int i = 0; i < number; i++) {
                value = small(value);
            }
            result = value;
        }

        public String wrong(int number) {
            int value = 1;
            for (int i = 0; i < number; i++) {
                value = value * 31 + 7;
            }
            return differs("result", value, result);
        }
    }

    static int small(int value) {
        return value * 31 + 7;
    }

    /** Looks for deadlocks, for which the JVM stops all threads. */
    private static final class Safepoint implements Kind {
        private int made;

        public void make(int number) {
            for (made = 0; made < number; made++) {
                if (THREADS.findDeadlockedThreads() != null) {
                    throw new IllegalStateException("there is a deadlock");
                }
            }
        }

        public String wrong(int number) {
            return differs("safepoints", number, made);
        }
    }

    /** Computes and makes no events: what it costs to be watched at all. */
    private static final class Idle implements Kind {
        private Long first;
        private long result;

        public void make(int number) {
            long state = 88172645463325252L;
            // A thousand steps for each of the number, which is an int.
            for (int i = 0; i < number; i++) {
                for (int j = 0; j < 1000; j++) {
                    state ^= state << 13;
                    state ^= state >>> 7;
                    state ^= state << 17;
                }
            }
            result = state;
        }

        public String wrong(int number) {
            if (first == null) {
                first = result;
            }
            return differs("result", first, result);
        }
    }
}
