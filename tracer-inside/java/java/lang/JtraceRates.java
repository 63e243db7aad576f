package java.lang;

import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;

/**
 * Which objects of a property are tracked, where those are not all.
 *
 * <p>Some are tracked and the others never are. That is decided by the object's hash and a limit of its class, which only ever
 * falls: an object that is not in the table and below the limit was not seen before, because it would have been tracked under every
 * limit that there was; one above the limit is ignored now and, as the limit never rises, for all of its life. So none is taken in with a past that nobody knows. Each class begins with the property's first limit, and comes down by
 * a half for each {@link #FAIR} of its objects that are tracked, as far as the property goes: rare classes are seen whole.
 */
final class JtraceRates {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** How many objects of a class are tracked before its limit falls, each time. */
    private static final int FAIR = 1000;
    /** Halvings from which on no object is new. */
    static final int NONE = 31;
    /** Classes with a limit of their own; further ones share one. */
    private static final int MAX_RATES = 1 << 16;

    /** Which objects of a class are tracked; it does not keep the class alive. */
    static final class Rate extends WeakReference<Class<?>> {
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

    private static final long NOT_TRACKED = JtraceJdk.offset(Rate.class, "notTracked");
    /** Where the identity hash lies in the first word of an object; negative where that is not known. */
    private static final int HASH_SHIFT = hashShift();

    private final int property;
    /** The limit with which classes begin, and how often theirs may be halved. */
    private int base = Integer.MAX_VALUE;
    private int level;
    private final Rate[] rates = new Rate[256];
    private int classes;
    private Rate others;

    JtraceRates(int property) {
        this.property = property;
    }

    /** From now on fewer are tracked: the limit with which classes begin, and how often it may be halved; the table's lock is held. */
    void lower(int base, int level) {
        this.base = level >= NONE ? -1 : Math.min(this.base, base);
        this.level = Math.max(this.level, level);
        if (level >= NONE) {
            for (Rate chain : rates) {
                for (; chain != null; chain = chain.next) chain.limit = -1;
            }
            if (others != null) others.limit = -1;
        }
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
    static boolean isNew(long mark) {
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
    private Rate rateOf(Class<?> type, int number) {
        Rate rate = rate(type);
        if (rate != null && (rate != others || classes >= MAX_RATES)) return rate;
        if (classes >= MAX_RATES) {
            others = new Rate(JtraceRates.class, 0, base);
            return others;
        }
        rate = new Rate(type, number, base);
        int at = System.identityHashCode(type) & 255;
        rate.next = rates[at];
        U.storeFence();
        rates[at] = rate;
        classes++;
        return rate;
    }

    /** The rate of an object that is not tracked, unless it was before the limit fell; nothing where the lock must decide. */
    Rate above(Object object) {
        Rate rate = rate(object.getClass());
        return rate == null || mixed(System.identityHashCode(object)) <= rate.limit ? null : rate;
    }

    /** Whether a new object is tracked, asked under the table's lock: the limit may have fallen. The number is that of its class. */
    boolean admits(Object object, int number, long mark, int place) {
        Rate rate = rateOf(object.getClass(), number);
        if (mixed(System.identityHashCode(object)) > rate.limit) {
            ignored(rate, mark, place);
            return false;
        }
        rate.tracked++;
        if (++rate.atLevel < FAIR || rate.level >= level) return true;
        rate.atLevel = 0;
        rate.level++;
        rate.limit >>= 1;
        return true;
    }

    static void ignored(Rate rate, long mark, int place) {
        long buffer = JtraceMarks.buffer();
        if (buffer != 0) JtraceMarks.count(JtraceMarks.countersOf(buffer), place, JtraceMarks.ENTERED);
        if (isNew(mark)) U.getAndAddLong(rate, NOT_TRACKED, 1);
    }

    /** Tells how many objects of each class were tracked, and were not; the table's lock is held. */
    void tell() {
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
}
