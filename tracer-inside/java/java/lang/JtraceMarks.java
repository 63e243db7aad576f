package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.annotation.DontInline;
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

    /** A byte for each place: its switch. */
    private static final long SWITCHES = at(0);
    /** A word of four bytes for each place of a symbol: its switch, and above that the row of the symbol among the automata. */
    private static final long SYMBOLS = at(3);
    /**
     * What threads write to, by the lower bits of their ids: the id, which is negative while the recorder is at work, then the thread's
     * counters, its buffer and its tree of contexts. It lies in the heap because compilers read it once for all marks between two calls;
     * other memory they would read again after each mark. Virtual threads are never there.
     */
    private static final long[] SLOTS = new long[(int) at(1) * 4];
    private static final int SLOTS_MASK = (SLOTS.length >> 2) - 1;
    private static final int SLOT_COUNTERS = 1;
    private static final int SLOT_HOME = 2;
    private static final int SLOT_CONTEXTS = 3;
    /** Next states, by property, symbol and state. */
    static final long MACHINES = at(2);

    /** Where the library begins that has defined this class; one that comes later asks there. */
    private static long library;

    static final long TID = JtraceJdk.offset(Thread.class, "tid");
    /** How many frames the stack trace of an exception has that the JVM wrote; 0 where that is not known. */
    private static final long FRAMES = frames();
    private static final Class<?> VIRTUAL = virtual();
    private static final long CARRIER = VIRTUAL == null ? 0 : JtraceJdk.offset(VIRTUAL, "carrierThread");

    /** The bits of a switch. */
    private static final int BITS = 63;
    static final int ON = 1;
    static final int COUNT = 2;
    static final int TIME = 4;
    static final int ADAPTIVE = 8;
    static final int CONTEXTS = 16;
    static final int MADE_IN = 32;

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
    /** Above the index of an argument: an object, by its hash. */
    private static final int HASHED = 5 << 12;

    /**
     * The four counters of a place: of its marks, the last are those of regions that were told of at their end. Of its symbols, those of
     * objects that are not tracked, those that changed their object's state, none, and those that left it.
     */
    static final int ENTERED = 0;
    static final int LEFT = 1;
    static final int THREW = 2;
    static final int MOVED = LEFT;
    static final int HELD_BACK = 3;
    private static final int PASSED = HELD_BACK;
    /** How far the last two counters of a place are from the first two: few marks need both, and caches are small. */
    private static final long FAR = at(4);

    /** What arrays are like here: to what their sizes are rounded up, where elements begin, and how large references are. */
    private static final long ALIGNMENT = at(5);
    private static final long ELEMENTS_AT = at(6);
    private static final long WORDS_AT = ELEMENTS_AT + 7 & -8;
    private static final long REFERENCE = at(7);
    private static final long REFERENCES_AT = REFERENCE == 8 ? WORDS_AT : ELEMENTS_AT;

    /** The header of a buffer. */
    private static final int NEXT = 0;
    private static final int END = 8;
    private static final int COUNTS = 16;
    private static final int LAST_THREAD = 24;
    /** Not 0 while the recorder is at work. */
    static final int BUSY = 32;
    /** Whether its thread may have the slot: nobody else that lives is there. */
    private static final int MAY_HAVE_SLOT = 40;
    /** Whose it is: the id of a thread, or of one that carries others. */
    private static final int TID_OF = 48;

    /** What is no address of counters: they are those of whichever thread carries this one when the region ends. */
    private static final long ELSEWHERE = 1;

    /** What is no address of a tree: the thread gets none. */
    static final long REFUSED = 1;

    private static final int MAX_TEXT_CHARS = 64;

    private JtraceMarks() {}

    /** Address or size of the library's memory. */
    private static native long at(int which);

    /** The buffer of a thread that has none; 0 where there is no room. */
    private static native long buffer0(long tid);

    /** The tree of contexts of a thread, with more room than it had; 0 where there is none. */
    private static native long contexts0(long tid);

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

    private static long frames() {
        try {
            return JtraceJdk.offset(Throwable.class, "depth");
        } catch (Throwable none) {
            return 0;
        }
    }

    static {
        // A copy of the library has answered that has no memory: woven code would read where there is none.
        if (SWITCHES == 0) throw new IllegalStateException();
    }

    /** Makes sure that the class is initialised. */
    static void prepare() {}

    @ForceInline
    private static int on(int place) {
        return U.getByte(SWITCHES + place);
    }

    public static void point(int place) {
        int on = on(place);
        if (on == 0) return;
        if ((on & MADE_IN) == 0 || !madeInContext(place)) {
            if (!counted(on, place, ENTERED)) tell(on, place, POINT);
        }
    }

    /** An object was made; says whether it was counted by what is around it. */
    @ForceInline
    private static boolean madeInContext(int place) {
        long tid = tid();
        return counters(tid) != 0 && passedContext(tid, place);
    }

    public static void enter(int place) {
        int on = on(place);
        if (on != 0 && !counted(on, place, ENTERED)) tell(on, place, ENTER);
    }

    public static void exit(int place) {
        int on = on(place);
        if (on != 0 && !counted(on, place, LEFT)) tell(on, place, EXIT);
    }

    public static void thrown(int place) {
        int on = on(place);
        if (on != 0 && !counted(on, place, THREW)) tell(on, place, THROWN);
    }

    /**
     * A counted region is entered. Says where its place is counted, for {@link #left} and {@link #threw}: so these need not find it again.
     * A thread's counters are there until it ends; 0 where nothing is counted, and {@link #ELSEWHERE} where they must look. It is negative
     * where it is the context around the region.
     */
    public static long entered(int place) {
        int on = on(place);
        if (on == 0) return 0;
        long tid = U.getLong(Thread.currentThread(), TID);
        long counters = counters(tid);
        if (counters == 0) return enteredElsewhere(on, place);
        if ((on & CONTEXTS) != 0) {
            long around = JtraceContexts.entered(SLOTS[slot(tid) + SLOT_CONTEXTS], place);
            if (around != 0) return around;
        }
        counters = at(counters, place, ENTERED);
        add(counters);
        return counters;
    }

    @DontInline
    private static long enteredElsewhere(int on, int place) {
        countSlowly(on, place, ENTER);
        return ELSEWHERE;
    }

    /** The end of such a region. */
    public static void left(long counters, int place) {
        if (counters > ELSEWHERE) add(counters + at(0, 0, LEFT));
        else if (counters < 0) leftContext(counters);
        else if (counters != 0) exit(place);
    }

    /** An exception leaves such a region. */
    public static void threw(long counters, int place) {
        if (counters > ELSEWHERE) add(counters + at(0, 0, THREW));
        else if (counters < 0) threwContext(counters, place);
        else if (counters != 0) thrown(place);
    }

    private static void leftContext(long kept) {
        long tree = treeOf(U.getLong(Thread.currentThread(), TID));
        // Else the next region that is left further out goes back there.
        if (tree > REFUSED) JtraceContexts.left(tree, kept);
    }

    @DontInline
    private static void threwContext(long kept, int place) {
        long tid = tid();
        long tree = treeOf(tid);
        if (tree > REFUSED) JtraceContexts.threw(tid, tree, place, kept);
    }

    /** The tree of a thread that has its slot, if it has one. */
    @ForceInline
    private static long treeOf(long tid) {
        int slot = slot(tid);
        return SLOTS[slot] == tid ? SLOTS[slot + SLOT_CONTEXTS] : 0;
    }

    /** The end of a region that was entered by no call of its own. */
    public static void passed(int place) {
        int on = on(place);
        if (on == 0) return;
        long tid = U.getLong(Thread.currentThread(), TID);
        long counters = counters(tid);
        if (counters == 0) both(on, place, EXIT);
        else if ((on & CONTEXTS) == 0 || !passedContext(tid, place)) count(counters, place, PASSED);
    }

    @ForceInline
    private static boolean passedContext(long tid, int place) {
        return JtraceContexts.passed(SLOTS[slot(tid) + SLOT_CONTEXTS], place);
    }

    public static void passedThrown(int place) {
        int on = on(place);
        if (on != 0) both(on, place, THROWN);
    }

    @DontInline
    private static void both(int on, int place, int end) {
        countSlowly(on, place, ENTER);
        countSlowly(on, place, end);
    }

    /**
     * An array was made, of so many elements of one byte each. Nothing of it comes here but its length: an object that nobody else sees
     * can be left out by a compiler, also where it is counted.
     */
    public static void bytes(int length, int place) {
        arrays(1, ELEMENTS_AT + length, place);
    }

    public static void shorts(int length, int place) {
        arrays(1, ELEMENTS_AT + ((long) length << 1), place);
    }

    public static void ints(int length, int place) {
        arrays(1, ELEMENTS_AT + ((long) length << 2), place);
    }

    public static void longs(int length, int place) {
        arrays(1, WORDS_AT + ((long) length << 3), place);
    }

    public static void references(int length, int place) {
        arrays(1, REFERENCES_AT + length * REFERENCE, place);
    }

    /** So many arrays of a dimension were made, each of this length. Says how many there are of the next. */
    public static long manyBytes(long arrays, int length, int place) {
        return many(arrays, length, ELEMENTS_AT + length, place);
    }

    public static long manyShorts(long arrays, int length, int place) {
        return many(arrays, length, ELEMENTS_AT + ((long) length << 1), place);
    }

    public static long manyInts(long arrays, int length, int place) {
        return many(arrays, length, ELEMENTS_AT + ((long) length << 2), place);
    }

    public static long manyLongs(long arrays, int length, int place) {
        return many(arrays, length, WORDS_AT + ((long) length << 3), place);
    }

    public static long manyReferences(long arrays, int length, int place) {
        return many(arrays, length, REFERENCES_AT + length * REFERENCE, place);
    }

    @ForceInline
    private static long many(long arrays, int length, long size, int place) {
        if (arrays != 0) arrays(arrays, size, place);
        return arrays * length;
    }

    @ForceInline
    private static void arrays(long arrays, long size, int place) {
        int on = on(place);
        if (on == 0) return;
        long tid = U.getLong(Thread.currentThread(), TID);
        long counters = counters(tid);
        if (counters == 0) arraysSlowly(arrays, size, place);
        else if ((on & MADE_IN) == 0 || !JtraceContexts.made(tid, place, arrays, arrays * rounded(size))) {
            addArrays(counters, arrays, size, place);
        }
    }

    @ForceInline
    private static long rounded(long size) {
        return size + ALIGNMENT - 1 & -ALIGNMENT;
    }

    @DontInline
    private static void arraysSlowly(long arrays, long size, int place) {
        long home = home(Thread.currentThread());
        if (home != 0 && U.getLong(home + BUSY) == 0) addArrays(countersOf(home), arrays, size, place);
    }

    @ForceInline
    private static void addArrays(long counters, long arrays, long size, int place) {
        long objects = at(counters, place, ENTERED);
        long bytes = at(counters, place, LEFT);
        U.putLong(objects, U.getLong(objects) + arrays);
        U.putLong(bytes, U.getLong(bytes) + arrays * rounded(size));
    }

    public static void point(int place, Object receiver) {
        int on = on(place);
        if (on != 0 && !counted(on, place, ENTERED)) tell(on, place, POINT, receiver);
    }

    public static void enter(int place, Object receiver) {
        int on = on(place);
        if (on != 0 && !counted(on, place, ENTERED)) tell(on, place, ENTER, receiver);
    }

    public static void exit(int place, Object receiver) {
        int on = on(place);
        if (on != 0 && !counted(on, place, LEFT)) tell(on, place, EXIT, receiver);
    }

    public static void thrown(int place, Object receiver) {
        int on = on(place);
        if (on != 0 && !counted(on, place, THREW)) tell(on, place, THROWN, receiver);
    }

    /** A handler takes an exception, or it leaves a method. */
    public static void exception(Object thrown, int place) {
        int on = on(place);
        if (on != 0) raised(on, place, thrown);
    }

    /** Told with its class, its hash, and how many frames its stack trace has. */
    @DontInline
    private static void raised(int on, int place, Object thrown) {
        long buffer = buffer();
        if (buffer == 0 || U.getLong(buffer + BUSY) != 0) return;
        sent(on, place, POINT, JtraceObjects.type(thrown));
        long frames = FRAMES == 0 ? -1 : U.getInt(thrown, FRAMES);
        raw(ARGUMENT | HASHED, System.identityHashCode(thrown) | frames << 32);
    }

    @ForceInline
    public static void symbol(int place, Object object) {
        int on = U.getInt(SYMBOLS + ((long) place << 2));
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
            raw(ARGUMENT | index << 4 | HASHED, System.identityHashCode(value));
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

    /** One more of a kind where marks are counted; so they need no order. What compilers make of this is what a counted mark costs. */
    @ForceInline
    private static boolean counted(int on, int place, int which) {
        if ((on & COUNT) == 0) return false;
        long tid = U.getLong(Thread.currentThread(), TID);
        long counters = counters(tid);
        if (counters == 0) return false;
        if ((on & CONTEXTS) == 0 || !inContext(tid, place, which)) count(counters, place, which);
        return true;
    }

    @ForceInline
    private static boolean inContext(long tid, int place, int which) {
        return which == ENTERED ? JtraceContexts.enter(tid, place) : JtraceContexts.leave(tid, place, which == THREW);
    }

    /** The tree of contexts of a thread that has its slot; 0 where there is no room for one. */
    static long contexts(long tid) {
        long tree = SLOTS[slot(tid) + SLOT_CONTEXTS];
        if (tree == 0) tree = grow(tid);
        return tree == REFUSED ? 0 : tree;
    }

    /** The same after it was given more room, if there is any. */
    static long grow(long tid) {
        long tree = contexts0(tid);
        SLOTS[slot(tid) + SLOT_CONTEXTS] = tree == 0 ? REFUSED : tree;
        return tree;
    }

    /** A mark that could not be counted at once: of a virtual thread, or the first of a thread. */
    @DontInline
    private static void countSlowly(int on, int place, int kind) {
        long home = home(Thread.currentThread());
        if (home == 0 || U.getLong(home + BUSY) != 0) return;
        int which = kind < EXIT ? ENTERED : kind - EXIT + LEFT;
        // A thread that has its slot by now is in a context with its first mark.
        if ((on & CONTEXTS) == 0 || !counted(on, place, which)) count(countersOf(home), place, which);
    }

    private static void tell(int on, int place, int kind) {
        if ((on & COUNT) != 0) countSlowly(on, place, kind);
        else sent(on, place, kind, 0);
    }

    private static void tell(int on, int place, int kind, Object receiver) {
        if ((on & COUNT) != 0) countSlowly(on, place, kind);
        else sent(on, place, kind, receiver == null ? 0 : JtraceObjects.number(receiver));
    }

    /** A mark, with its time where that is wanted. */
    private static void sent(int on, int place, int kind, int value) {
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

    /** A buffer's counters. */
    static long countersOf(long buffer) {
        return U.getLong(buffer + COUNTS);
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
        busy(buffer, 1);
        return true;
    }

    static void leave(long buffer) {
        busy(buffer, 0);
    }

    private static void busy(long buffer, int busy) {
        U.putLong(buffer + BUSY, busy);
        long tid = U.getLong(buffer + TID_OF);
        int slot = slot(tid);
        if (SLOTS[slot + SLOT_HOME] == buffer) SLOTS[slot] = busy == 0 ? tid : -tid;
    }

    /** The id of this thread. */
    static long tid() {
        return U.getLong(Thread.currentThread(), TID);
    }

    /** The slot of a thread, unless another one has it. */
    @ForceInline
    private static int slot(long tid) {
        return ((int) tid & SLOTS_MASK) << 2;
    }

    /** The counters of a thread, where it has its slot and the recorder is not at work; else 0. */
    @ForceInline
    static long counters(long tid) {
        int slot = slot(tid);
        return SLOTS[slot] == tid ? SLOTS[slot + SLOT_COUNTERS] : 0;
    }

    /** One more at a place. */
    @ForceInline
    static void count(long counters, int place, int which) {
        add(at(counters, place, which));
    }

    @ForceInline
    private static long at(long counters, int place, int which) {
        return counters + ((long) place << 4) + ((which & 1) << 3) + (which >> 1) * FAR;
    }

    @ForceInline
    private static void add(long at) {
        U.putLong(at, U.getLong(at) + 1);
    }

    static long home(Thread thread) {
        if (VIRTUAL != null && thread.getClass() == VIRTUAL) {
            thread = (Thread) U.getReference(thread, CARRIER);
            if (thread == null) return 0;
        }
        long tid = U.getLong(thread, TID);
        int slot = slot(tid);
        long of = SLOTS[slot];
        return of == tid || of == -tid ? SLOTS[slot + SLOT_HOME] : settled(tid);
    }

    /** A visit begins: no thread is in its slot, so each asks the library for its buffer with its first mark, which tells jtrace whose it is. */
    static void askAgain() {
        for (int slot = 0; slot < SLOTS.length; slot += 4) {
            SLOTS[slot] = 0;
        }
    }

    /** A thread ends, and its buffer is taken back: whatever it still does must not find that. */
    static void ended(long tid) {
        int slot = slot(tid);
        if (SLOTS[slot] == tid || SLOTS[slot] == -tid) SLOTS[slot] = 0;
    }

    /** The buffer of a thread that is not in its slot. It gets there, unless another one that lives has it. */
    private static long settled(long tid) {
        long home = buffer0(tid);
        if (home == 0 || U.getLong(home + MAY_HAVE_SLOT) == 0) return home;
        // Whoever was there has ended.
        int slot = slot(tid);
        SLOTS[slot + SLOT_HOME] = home;
        SLOTS[slot + SLOT_COUNTERS] = countersOf(home);
        SLOTS[slot + SLOT_CONTEXTS] = 0;
        U.storeFence();
        SLOTS[slot] = U.getLong(home + BUSY) == 0 ? tid : -tid;
        return home;
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
