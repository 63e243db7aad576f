package java.lang;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;

/**
 * Numbers and states of objects, which are known by themselves and not by their hashes, however collectors move them. An
 * object that nothing else knows is forgotten: its death is told with its last state.
 *
 * <p>Where there are too many, some are tracked and the others never are. That is decided by the object's hash and a limit of its
 * class, which only ever falls: an object that is not in the table and below the limit was not seen before, because it would
 * have been tracked under every limit that there was; one above the limit is ignored now and, as the limit never rises, for all of
 * its life. So none is taken in with a past that nobody knows. Each class begins with the property's first limit, and comes down by
 * a half for each {@link #FAIR} of its objects that are tracked, as far as the property goes: rare classes are seen whole.
 */
final class JtraceObjects {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** The table of objects that only have a number; those of properties follow. */
    private static final JtraceObjects[] TABLES = new JtraceObjects[256];

    /** The state after an illegal symbol; nothing leads out of it. */
    private static final int DEAD = 63;
    /** In the place of a symbol: whether an object may die in a state. */
    private static final int MAY_END = 63 << 6;

    /** What is known of an object; it does not keep it alive. */
    private static final class Known extends WeakReference<Object> {
        final int hash;
        final int number;
        final int type;
        int state;
        long history;
        Known next;

        Known(Object object, ReferenceQueue<Object> dead, int hash, int number, int type) {
            super(object, dead);
            this.hash = hash;
            this.number = number;
            this.type = type;
        }
    }

    private static final long STATE = U.objectFieldOffset(Known.class, "state");
    /** How many objects of a class are tracked before its limit falls, each time. */
    private static final int FAIR = 1000;
    /** Halvings from which on no object is new. */
    private static final int NONE = 31;
    /** Classes with a limit of their own; further ones share one. */
    private static final int MAX_RATES = 1 << 16;

    /** Which objects of a class are tracked; it does not keep the class alive. */
    private static final class Rate extends WeakReference<Class<?>> {
        final int type;
        /** Objects whose mixed hash is not above it are tracked. */
        volatile int limit;
        int level;
        int atLevel;
        long tracked;
        volatile long notTracked;
        long told;
        Rate next;

        Rate(Class<?> of, int type, int limit) {
            super(of);
            this.type = type;
            this.limit = limit;
        }
    }

    private static final long NOT_TRACKED = U.objectFieldOffset(Rate.class, "notTracked");
    /** Where the identity hash lies in the first word of an object; negative where that is not known. */
    private static final int HASH_SHIFT = hashShift();

    private final int property;
    /** Whether not all objects are tracked. */
    private volatile boolean samples;
    /** The limit with which classes begin, and how often theirs may be halved. */
    private int base = Integer.MAX_VALUE;
    private int level;
    private final Rate[] rates = new Rate[256];
    private int classes;
    private Rate others;
    private final ReferenceQueue<Object> dead = new ReferenceQueue<>();
    private Known[] buckets = new Known[1024];
    private int size;
    private int last;
    /** Whether the JVM ends, and all deaths were told. */
    private boolean over;

    private JtraceObjects(int property) {
        this.property = property;
    }

    /** Makes the table of a property, or of all objects (0). */
    static void prepare(int property) {
        if (TABLES[property] == null) TABLES[property] = new JtraceObjects(property);
    }

    /** Forgets all objects of a property. */
    static void forget(int property) {
        JtraceObjects table = TABLES[property];
        if (table != null) table.tellRates();
        TABLES[property] = null;
    }

    /** From now on fewer objects of a property are tracked: the limit with which classes begin, and how often it may be halved. */
    static void sample(int property, int base, int level) {
        JtraceObjects table = TABLES[property];
        if (table != null) table.lower(base, level);
    }

    private synchronized void lower(int base, int level) {
        this.base = level >= NONE ? -1 : Math.min(this.base, base);
        this.level = Math.max(this.level, level);
        if (level >= NONE) {
            for (Rate chain : rates) {
                for (; chain != null; chain = chain.next) chain.limit = -1;
            }
            if (others != null) others.limit = -1;
        }
        samples = true;
    }

    /** An object that never had a hash shows where it lies, when it gets one. */
    private static int hashShift() {
        for (int attempt = 0; attempt < 8; attempt++) {
            Object object = new Object();
            long before = U.getLong(object, 0L);
            long hash = System.identityHashCode(object);
            long after = U.getLong(object, 0L);
            if ((after & 3) != 1) continue;
            for (int shift = 4; shift <= 32; shift++) {
                boolean fits = (after >>> shift & 0x7fffffff) == hash;
                if (fits && ((before & 7) == 5 || (before >>> shift & 0x7fffffff) == 0)) return shift;
            }
        }
        return -1;
    }

    /**
     * Whether nobody has asked for an object's hash before, from its first word before that was done: so it is told apart from one
     * that was ignored already, without remembering it. Of a locked object that cannot be seen. 5 are biased locks (until JDK 17).
     */
    private static boolean isNew(long mark) {
        if (HASH_SHIFT < 0) return false;
        return (mark & 7) == 5 || (mark & 3) == 1 && (mark >>> HASH_SHIFT & 0x7fffffff) == 0;
    }

    private static int mixed(int hash) {
        return hash * 0x9e3779b1 >>> 1;
    }

    private Rate rate(Class<?> type) {
        for (Rate rate = rates[System.identityHashCode(type) & 255]; rate != null; rate = rate.next) {
            if (rate.get() == type) return rate;
        }
        return others;
    }

    /** The same, for a class that has none yet; the table's lock is held. */
    private Rate rateOf(Object object) {
        Class<?> type = object.getClass();
        Rate rate = rate(type);
        if (rate != null && (rate != others || classes >= MAX_RATES)) return rate;
        if (classes >= MAX_RATES) {
            others = new Rate(JtraceObjects.class, 0, base);
            return others;
        }
        rate = new Rate(type, typeOf(object), base);
        int at = System.identityHashCode(type) & 255;
        rate.next = rates[at];
        U.storeFence();
        rates[at] = rate;
        classes++;
        return rate;
    }

    /** Whether an object that is not in the table is none of those that are tracked. */
    private boolean ignores(Object object, long mark, int place) {
        Rate rate = rate(object.getClass());
        // Its first object: the lock decides.
        if (rate == null || mixed(System.identityHashCode(object)) <= rate.limit) return false;
        // Another thread may have brought it in before the limit fell.
        if (find(object) != null) return false;
        ignored(rate, mark, place);
        return true;
    }

    private static void ignored(Rate rate, long mark, int place) {
        long buffer = JtraceMarks.buffer();
        if (buffer != 0) JtraceMarks.count(buffer, place, JtraceMarks.ENTER);
        if (isNew(mark)) U.getAndAddLong(rate, NOT_TRACKED, 1);
    }

    /** One more object is tracked; the table's lock is held. */
    private void tracked(Rate rate) {
        rate.tracked++;
        if (++rate.atLevel < FAIR || rate.level >= level) return;
        rate.atLevel = 0;
        rate.level++;
        rate.limit >>= 1;
    }

    /** Tells how many objects of each class were tracked, and were not. */
    private synchronized void tellRates() {
        for (Rate chain : rates) {
            for (; chain != null; chain = chain.next) tell(chain);
        }
        if (others != null) tell(others);
    }

    private void tell(Rate rate) {
        long notTracked = rate.notTracked;
        long now = rate.tracked + notTracked;
        if (now == rate.told) return;
        rate.told = now;
        int limit = rate.limit;
        JtraceMarks.sampled0(property, rate.type, rate.tracked, notTracked, limit < 0 ? 0 : (1L << 31) / (limit + 1L));
    }

    /** The number of an object; 0 where it gets none. */
    static int number(Object object) {
        JtraceObjects all = TABLES[0];
        if (all == null) return 0;
        Known known = all.find(object);
        if (known != null) return known.number;
        boolean pinned = JtraceMarks.pin();
        long buffer = JtraceMarks.buffer();
        boolean entered = buffer != 0 && enter(buffer);
        try {
            return entered ? all.born(object) : 0;
        } catch (Throwable full) {
            return 0;
        } finally {
            if (entered) U.putLong(buffer + JtraceMarks.BUSY, 0);
            JtraceMarks.unpin(pinned);
        }
    }

    /** A new object of the table of all: its class is an object, too, and comes first. */
    private int born(Object object) {
        int type = object instanceof Class ? 0 : typeOf(object);
        Known known = add(object, type, 0, 0);
        JtraceMarks.raw(JtraceMarks.BORN | (long) known.number << 32, type);
        return known.number;
    }

    private static int typeOf(Object object) {
        JtraceObjects all = TABLES[0];
        if (all == null) return 0;
        Class<?> type = object.getClass();
        Known known = all.find(type);
        if (known == null) {
            known = all.add(type, 0, 0, 0);
            JtraceMarks.named0(known.number, type.getName());
        }
        return known.number;
    }

    /** Nothing here may be told of while it is at work. */
    private static boolean enter(long buffer) {
        if (U.getLong(buffer + JtraceMarks.BUSY) != 0) return false;
        U.putLong(buffer + JtraceMarks.BUSY, 1);
        return true;
    }

    /** A symbol of a property: the object goes to its next state. */
    static void symbol(int on, int place, Object object) {
        if (object == null) return;
        int of = U.getShort(JtraceMarks.SYMBOLS + ((long) place << 1));
        int property = of & 0xff;
        int symbol = of >> 8 & 0xff;
        JtraceObjects table = TABLES[property];
        if (table == null) return;
        long machine = JtraceMarks.MACHINES + (property << 12) + (symbol << 6);
        boolean samples = table.samples;
        long mark = samples ? U.getLong(object, 0L) : 0;
        Known known = table.find(object);
        if (known == null) {
            if (samples && table.ignores(object, mark, place)) return;
        } else if ((on & JtraceMarks.ADAPTIVE) != 0) {
            int state = known.state;
            if (U.getByte(machine + state) == state) {
                long buffer = JtraceMarks.buffer();
                if (buffer != 0 && U.getLong(buffer + JtraceMarks.BUSY) == 0) {
                    JtraceMarks.count(buffer, place, JtraceMarks.SYMBOL);
                }
                return;
            }
        }
        // A virtual thread that waits for the table would leave its buffer to others.
        boolean pinned = JtraceMarks.pin();
        try {
            take(table, known, place, symbol, machine, object, mark);
        } finally {
            // Else it could die before its last symbol counts: nobody need hold it any more.
            Reference.reachabilityFence(object);
            JtraceMarks.unpin(pinned);
        }
    }

    private static void take(
            JtraceObjects table, Known known, int place, int symbol, long machine, Object object, long mark) {
        long buffer = JtraceMarks.buffer();
        if (buffer == 0 || !enter(buffer)) return;
        try {
            if (known == null) known = table.add(object, typeOf(object), mark, place);
            if (known == null) return;
            // Whoever looked without the lock may have missed it, and another thread may have moved it on.
            int state;
            int next;
            do {
                state = known.state;
                next = U.getByte(machine + state);
            } while (!U.compareAndSetInt(known, STATE, state, next));
            JtraceMarks.raw1(buffer, JtraceMarks.SYMBOL | state << 4 | (long) place << 12 | (long) known.number << 32);
            if (next == DEAD && state != DEAD) {
                JtraceMarks.illegal0(state << 4 | (long) place << 12, known.number, known.type, known.history);
            }
            known.history = known.history << 8 | symbol + 1;
        } catch (Throwable full) {
            // It is as if the object had not been seen.
        } finally {
            U.putLong(buffer + JtraceMarks.BUSY, 0);
        }
    }

    private Known find(Object object) {
        int hash = System.identityHashCode(object);
        Known[] buckets = this.buckets;
        for (Known known = buckets[hash & buckets.length - 1]; known != null; known = known.next) {
            if (known.hash == hash && known.get() == object) return known;
        }
        return null;
    }

    /** The object's entry, which is made unless the object is ignored: then there is none. */
    private synchronized Known add(Object object, int type, long mark, int place) {
        Known found = find(object);
        if (found != null) return found;
        if (samples) {
            // Asked again under the lock: the limit may have fallen since.
            Rate rate = rateOf(object);
            if (mixed(System.identityHashCode(object)) > rate.limit) {
                ignored(rate, mark, place);
                return null;
            }
            tracked(rate);
        }
        sweep();
        if (size >= buckets.length) grow();
        int hash = System.identityHashCode(object);
        Known known = new Known(object, dead, hash, ++last, type);
        int at = hash & buckets.length - 1;
        known.next = buckets[at];
        // Readers take no lock.
        U.storeFence();
        buckets[at] = known;
        size++;
        return known;
    }

    private void grow() {
        Known[] larger = new Known[2 * buckets.length];
        for (Known chain : buckets) {
            while (chain != null) {
                Known next = chain.next;
                int at = chain.hash & larger.length - 1;
                chain.next = larger[at];
                larger[at] = chain;
                chain = next;
            }
        }
        U.storeFence();
        buckets = larger;
    }

    /** Tells of objects that have died. */
    private void sweep() {
        if (over) return;
        for (Reference<?> gone = dead.poll(); gone != null; gone = dead.poll()) {
            Known known = (Known) gone;
            remove(known);
            died(known);
        }
    }

    private void remove(Known known) {
        int at = known.hash & buckets.length - 1;
        Known before = null;
        for (Known one = buckets[at]; one != null; before = one, one = one.next) {
            if (one != known) continue;
            if (before == null) buckets[at] = one.next;
            else before.next = one.next;
            size--;
            return;
        }
    }

    private void died(Known known) {
        if (property != 0 && U.getByte(JtraceMarks.MACHINES + (property << 12) + MAY_END + known.state) != 0) return;
        JtraceMarks.raw(
            JtraceMarks.DEATH | known.state << 4 | (long) property << 12 | (long) known.number << 32, known.type);
    }

    /** Tells of the dead of all tables; at the end of the JVM, all that is left counts as dead. */
    static void sweepAll(boolean atEnd) {
        long buffer = JtraceMarks.buffer();
        // Queues of references have locks, which may be woven.
        boolean entered = buffer != 0 && enter(buffer);
        try {
            for (JtraceObjects table : TABLES) {
                if (table != null) table.sweep(atEnd);
            }
        } finally {
            if (entered) U.putLong(buffer + JtraceMarks.BUSY, 0);
        }
    }

    private synchronized void sweep(boolean atEnd) {
        sweep();
        if (samples) tellRates();
        if (!atEnd || property == 0) return;
        for (Known chain : buckets) {
            for (; chain != null; chain = chain.next) died(chain);
        }
        // Those of them that a collector finds now have been told.
        over = true;
    }
}
