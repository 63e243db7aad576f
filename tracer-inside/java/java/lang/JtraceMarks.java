package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What woven code calls. It lies in {@code java.lang} because every class loader finds that package there, also those that
 * delegate nothing else.
 *
 * <p>A call tests the switch of its place and, where that is on, writes a word ({@code tracer-common/src/marks.rs}) into the
 * buffer of its thread: both lie outside of the heap, where the library reads them. Nothing here allocates, locks, or calls
 * anything that could be woven.
 */
public final class JtraceMarks {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** A word of four bytes for each place: its switch, and above that the row of its symbol among the automata. */
    private static final long SWITCHES = at(0);
    /** Thread id, buffer and counters, by the lower bits of the id; the id is negative while the recorder is at work. */
    private static final long SLOTS = at(1);
    private static final long SLOTS_MASK = at(2);
    /** Next states, by property, symbol and state. */
    static final long MACHINES = at(3);

    /** Where the library begins that has defined this class; one that comes later asks there. */
    private static long library;

    static final long TID = U.objectFieldOffset(Thread.class, "tid");
    private static final Class<?> VIRTUAL = virtual();
    private static final long CARRIER = VIRTUAL == null ? 0 : U.objectFieldOffset(VIRTUAL, "carrierThread");

    /** The bits of a switch. */
    private static final int BITS = 63;
    static final int ON = 1;
    static final int COUNT = 2;
    static final int TIME = 4;
    static final int ADAPTIVE = 8;

    static final int POINT = 1;
    static final int ENTER = 2;
    static final int EXIT = 3;
    static final int THROWN = 4;
    static final int SYMBOL = 5;
    static final int DEATH = 6;
    static final int BORN = 7;
    static final int TIME_WORD = 9;
    static final int THREAD = 10;
    static final int ARGUMENT = 11;

    /** The four counters of a place; the last two kinds of symbols are those that change their object's state and those that do not. */
    static final int ENTERED = 0;
    static final int LEFT = 1;
    static final int MOVED = LEFT;
    static final int HELD_BACK = 3;

    /** The header of a buffer. */
    private static final int NEXT = 0;
    private static final int END = 8;
    private static final int COUNTS = 16;
    private static final int LAST_THREAD = 24;
    /** Not 0 while the recorder is at work. */
    static final int BUSY = 32;
    /** Where the buffer's slot is; 0: it has none. */
    private static final int SLOT = 40;

    private static final int MAX_TEXT_CHARS = 64;

    private JtraceMarks() {}

    /** Address or size of the library's memory. */
    private static native long at(int which);

    /** The buffer of a thread that has none; 0 where there is no room. */
    private static native long buffer0(long tid);

    /** A virtual thread goes on in this buffer: what it left in another one is handed over first. */
    private static native void moved0(long buffer, long id);

    /** Hands a full buffer over. */
    private static native void flush0(long buffer);

    /** A number stands for a class. */
    static native void named0(int number, String name);

    /** A property does not allow a symbol. */
    static native void illegal0(long at, int object, int type, long history);

    /** Objects of a class that a property tracks, and does not; of how many one is tracked. */
    static native void sampled0(int property, int type, long tracked, long notTracked, long oneIn);

    private static Class<?> virtual() {
        try {
            return Class.forName("java.lang.VirtualThread", false, null);
        } catch (ClassNotFoundException none) {
            return null;
        }
    }

    /** Makes sure that the class is initialised. */
    static void prepare() {}

    @ForceInline
    static int on(int place) {
        return U.getInt(SWITCHES + ((long) place << 2));
    }

    public static void point(int place) {
        int on = on(place);
        if (on != 0) tell(on, place, POINT, 0);
    }

    public static void enter(int place) {
        int on = on(place);
        if (on != 0) tell(on, place, ENTER, 0);
    }

    public static void exit(int place) {
        int on = on(place);
        if (on != 0) tell(on, place, EXIT, 0);
    }

    public static void thrown(int place) {
        int on = on(place);
        if (on != 0) tell(on, place, THROWN, 0);
    }

    public static void point(int place, Object receiver) {
        int on = on(place);
        if (on != 0) tellOf(on, place, POINT, receiver);
    }

    public static void enter(int place, Object receiver) {
        int on = on(place);
        if (on != 0) tellOf(on, place, ENTER, receiver);
    }

    public static void exit(int place, Object receiver) {
        int on = on(place);
        if (on != 0) tellOf(on, place, EXIT, receiver);
    }

    public static void thrown(int place, Object receiver) {
        int on = on(place);
        if (on != 0) tellOf(on, place, THROWN, receiver);
    }

    @ForceInline
    public static void symbol(int place, Object object) {
        int on = on(place);
        if ((on & BITS) == (ON | ADAPTIVE)) JtraceObjects.symbol(on, place, object);
        else if ((on & BITS) != 0) JtraceObjects.seldom(on, place, object);
    }

    public static void argument(int place, int index, long value) {
        if (isSent(place)) raw(ARGUMENT | index << 4 | 1 << 12, value);
    }

    public static void argument(int place, int index, double value) {
        if (isSent(place)) raw(ARGUMENT | index << 4 | 2 << 12, Double.doubleToRawLongBits(value));
    }

    public static void argument(int place, int index, Object value) {
        if (!isSent(place)) return;
        if (value == null) {
            long buffer = buffer();
            if (buffer != 0) raw1(buffer, ARGUMENT | index << 4 | 4 << 12);
        } else if (value instanceof String) {
            text(index, (String) value);
        } else {
            raw(ARGUMENT | index << 4 | 5 << 12, System.identityHashCode(value));
        }
    }

    private static boolean isSent(int place) {
        return (on(place) & (ON | COUNT)) == ON;
    }

    private static void text(int index, String text) {
        long buffer = buffer();
        // What reads the text may be woven, too: marks of that would come into the middle of this one.
        if (buffer == 0 || !enter(buffer)) return;
        try {
            int length = text.length();
            int chars = length < MAX_TEXT_CHARS ? length : MAX_TEXT_CHARS;
            long next = U.getLong(buffer + NEXT);
            U.putLong(next, (ARGUMENT | index << 4 | 3 << 12) | (long) (2 * chars) << 32);
            next += 8;
            for (int from = 0; from < chars; from += 4, next += 8) {
                long word = 0;
                for (int at = from; at < chars && at < from + 4; at++) {
                    word |= (long) text.charAt(at) << 16 * (at - from);
                }
                U.putLong(next, word);
            }
            written(buffer, next);
        } finally {
            leave(buffer);
        }
    }

    private static void tellOf(int on, int place, int kind, Object receiver) {
        tell(on, place, kind, receiver == null || (on & COUNT) != 0 ? 0 : JtraceObjects.number(receiver));
    }

    /** A mark, with its time where that is wanted; or one more of its kind where marks are counted. */
    static void tell(int on, int place, int kind, int value) {
        if ((on & COUNT) != 0) {
            // Numbers need no order.
            long home = home(Thread.currentThread());
            if (home != 0 && U.getLong(home + BUSY) == 0) count(home, place, kind < EXIT ? ENTERED : kind - EXIT + LEFT);
            return;
        }
        long buffer = buffer();
        // What the recorder itself calls is not told of.
        if (buffer == 0 || U.getLong(buffer + BUSY) != 0) return;
        long next = U.getLong(buffer + NEXT);
        U.putLong(next, kind | (long) place << 12 | (long) value << 32);
        next += 8;
        if ((on & TIME) != 0) {
            U.putLong(next, TIME_WORD);
            U.putLong(next + 8, System.nanoTime());
            next += 16;
        }
        written(buffer, next);
    }

    static void count(long buffer, int place, int which) {
        count(countersOf(buffer, place), which);
    }

    /** A buffer's counters of a place. */
    static long countersOf(long buffer, int place) {
        return U.getLong(buffer + COUNTS) + ((long) place << 5);
    }

    /** A word by itself. */
    static void raw1(long buffer, long word) {
        if (buffer == 0) return;
        long next = U.getLong(buffer + NEXT);
        U.putLong(next, word);
        written(buffer, next + 8);
    }

    /** A word with a raw one behind it. */
    static void raw(long word, long value) {
        long buffer = buffer();
        if (buffer == 0) return;
        long next = U.getLong(buffer + NEXT);
        U.putLong(next, word);
        U.putLong(next + 8, value);
        written(buffer, next + 16);
    }

    /** What was written counts; behind the end there is always room for the longest mark. */
    private static void written(long buffer, long next) {
        U.putLongRelease(null, buffer + NEXT, next);
        if (next >= U.getLong(buffer + END)) flush0(buffer);
    }

    /** The buffer of this thread, or of the one that carries it; 0 where it has none. What is written there now is this thread's. */
    static long buffer() {
        Thread thread = Thread.currentThread();
        long buffer = home(thread);
        if (VIRTUAL != null && buffer != 0) {
            long id = U.getLong(thread, TID);
            if (U.getLong(buffer + LAST_THREAD) != id) changes(thread, buffer, id);
        }
        return buffer;
    }

    /** Nothing here may be told of while it is at work. */
    static boolean enter(long buffer) {
        if (U.getLong(buffer + BUSY) != 0) return false;
        U.putLong(buffer + BUSY, 1);
        long slot = U.getLong(buffer + SLOT);
        if (slot != 0) U.putLong(slot, -U.getLong(slot));
        return true;
    }

    static void leave(long buffer) {
        U.putLong(buffer + BUSY, 0);
        long slot = U.getLong(buffer + SLOT);
        if (slot != 0) U.putLong(slot, -U.getLong(slot));
    }

    /** The slot of a thread; virtual threads have none, and others may have it. */
    @ForceInline
    static long slot(long tid) {
        return SLOTS + ((tid & SLOTS_MASK) << 5);
    }

    /** The thread's counters of a place; its slot is known to be the thread's own, and the recorder not at work. */
    @ForceInline
    static long counters(long slot, int place) {
        return U.getLong(slot + 16) + ((long) place << 5);
    }

    @ForceInline
    static void count(long counters, int which) {
        U.putLong(counters + (which << 3), U.getLong(counters + (which << 3)) + 1);
    }

    static long home(Thread thread) {
        if (VIRTUAL != null && thread.getClass() == VIRTUAL) {
            thread = (Thread) U.getReference(thread, CARRIER);
            if (thread == null) return 0;
        }
        long tid = U.getLong(thread, TID);
        long slot = slot(tid);
        long of = U.getLong(slot);
        return of == tid || of == -tid ? U.getLong(slot + 8) : buffer0(tid);
    }

    /** Another thread goes on in a buffer: a virtual one, or (0) the one whose buffer it is. */
    private static void changes(Thread thread, long buffer, long id) {
        boolean isVirtual = thread.getClass() == VIRTUAL;
        if (isVirtual) moved0(buffer, id);
        U.putLong(buffer + LAST_THREAD, id);
        long next = U.getLong(buffer + NEXT);
        U.putLong(next, THREAD);
        U.putLong(next + 8, isVirtual ? id : 0);
        written(buffer, next + 16);
    }

    /** Lets a virtual thread stay where it is until {@link #unpin}; says whether it is one. */
    static boolean pin() {
        if (VIRTUAL == null || Thread.currentThread().getClass() != VIRTUAL) return false;
        Continuation.pin();
        return true;
    }

    static void unpin(boolean pinned) {
        if (pinned) Continuation.unpin();
    }
}
