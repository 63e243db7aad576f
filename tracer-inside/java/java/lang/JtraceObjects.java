package java.lang;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

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

    /** Least places of a table of objects, a power of two; more than half of them are never taken. */
    private static final int LEAST = 1024;
    /** Young ones that are entered into the index at the same time. */
    private static final int TOGETHER = 32;
    /** Old objects are looked at for this part of the time at most. */
    private static final int LOOK_SHARE = 64;

    /** The table of objects that only have a number; those of properties follow. */
    private static final JtraceObjects[] TABLES = new JtraceObjects[256];

    /** The state after an illegal symbol; nothing leads out of it. */
    private static final int DEAD = 63;
    /** In the place of a symbol: whether an object may die in a state. */
    private static final int MAY_END = 63 << 6;

    /**
     * What is known of an object; it does not keep it alive. No queue gets it when the object has died: each would take the queue's
     * lock twice. Whoever has collected is noticed by a reference of our own, and then all that are young are looked at.
     */
    private static final class Known extends WeakReference<Object> {
        final int hash;
        final int number;
        final int type;
        /** The state, and the last symbols: one word, so that a step is one exchange. */
        long word;

        Known(Object object, int hash, int number, int type) {
            super(object);
            this.hash = hash;
            this.number = number;
            this.type = type;
        }
    }

    /** Where an object was. */
    private static final Known GONE = new Known(null, 0, 0, 0);

    /**
     * Objects since the last collection that was noticed, in the order of their births. They are entered into an index some at a time:
     * each lies elsewhere in that, and so the memory's answers are waited for together. Readers take no lock.
     */
    private static final class Young {
        final Known[] known;
        final int[] hashes;
        /** Places and 1, by their hashes. */
        final int[] index;
        int count;
        /** Those before are in the index. */
        int indexed;

        Young(int length) {
            known = new Known[length];
            hashes = new int[length];
            index = new int[2 * length];
        }

        Known find(int hash, Object object) {
            for (int at = indexed; at < count; at++) {
                if (is(at, hash, object)) return known[at];
            }
            U.loadFence();
            int mask = index.length - 1;
            for (int at = hash & mask; index[at] != 0; at = at + 1 & mask) {
                int place = index[at] - 1;
                if (place >= 0 && is(place, hash, object)) return known[place];
            }
            return null;
        }

        private boolean is(int at, int hash, Object object) {
            if (hashes[at] != hash) return false;
            Known one = known[at];
            return one != null && one.get() == object;
        }

        void add(Known one) {
            known[count] = one;
            hashes[count] = one.hash;
            U.storeFence();
            count++;
            if (count - indexed >= TOGETHER) enterIndex();
        }

        void enterIndex() {
            int mask = index.length - 1;
            for (int at = indexed; at < count; at++) {
                int to = hashes[at] & mask;
                while (index[to] != 0) to = to + 1 & mask;
                index[to] = at + 1;
            }
            U.storeFence();
            indexed = count;
        }

        /** The same with more room. */
        Young larger() {
            Young larger = new Young(2 * known.length);
            System.arraycopy(known, 0, larger.known, 0, count);
            System.arraycopy(hashes, 0, larger.hashes, 0, count);
            larger.count = count;
            larger.enterIndex();
            U.storeFence();
            return larger;
        }

        void clear() {
            int all = count;
            count = 0;
            indexed = 0;
            java.util.Arrays.fill(index, 0);
            java.util.Arrays.fill(known, 0, all, null);
        }
    }

    private static final long WORD = U.objectFieldOffset(Known.class, "word");
    /** Bits of a state, the lowest of a word, and of a symbol: the latest one lies above the state. 0 is none. */
    private static final int STATE_BITS = 6;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;
    /** Where symbol and property lie in the word of a place. */
    private static final int SYMBOL_SHIFT = 6;
    private static final int PROPERTY_SHIFT = 12;
    /** Both of them. */
    private static final int ROW_MASK = 0xfffc0;
    /** Symbols of a history that is told, of a byte each. */
    private static final int TOLD_SYMBOLS = 8;

    /**
     * What threads were at last, by the lower bits of their ids and by property. Loops use one object again and again, and find it here
     * without its hash. Entries may be anybody's: what counts is whose object it is.
     */
    private static final Known[] RECENT = nobody(64 << 8);
    private static final int RECENT_MASK = (64 << 8) - 1;

    /** Whether references can be asked without keeping their objects alive (since 16). */
    private static final boolean CAN_ASK = Runtime.version().feature() >= 16;
    private static final long REFERENT = U.objectFieldOffset(Reference.class, "referent");
    private static final boolean IS_NARROW = U.arrayIndexScale(Object[].class) == 4;
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
    private Young young = new Young(LEAST);
    /** Those that have lived on. */
    private Known[] old = new Known[LEAST];
    /** Places there that are not empty. */
    private int oldUsed;
    /** Dies with the next collection. */
    private WeakReference<Object> sentinel = new WeakReference<>(new Object());
    /** Whether there was a collection since the old ones were looked at, and when they may be again. */
    private boolean collected;
    private long nextLook = System.nanoTime();
    /** The class whose number was asked for last. */
    private Known lastType;
    private int last;
    /** Whether the JVM ends, and all deaths were told. */
    private boolean over;

    private static Known[] nobody(int length) {
        Known[] nobody = new Known[length];
        java.util.Arrays.fill(nobody, GONE);
        return nobody;
    }

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
        // Who has found an object in the table looks at it again.
        U.fullFence();
        for (int at = property; at < RECENT.length; at += 256) RECENT[at] = GONE;
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
        rate = new Rate(type, typeOf(type), base);
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
        if (findSurely(object) != null) return false;
        ignored(rate, mark, place);
        return true;
    }

    private static void ignored(Rate rate, long mark, int place) {
        long buffer = JtraceMarks.buffer();
        if (buffer != 0) JtraceMarks.count(buffer, place, JtraceMarks.ENTERED);
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
        boolean entered = buffer != 0 && JtraceMarks.enter(buffer);
        try {
            return entered ? all.born(object) : 0;
        } catch (Throwable full) {
            return 0;
        } finally {
            if (entered) JtraceMarks.leave(buffer);
            JtraceMarks.unpin(pinned);
        }
    }

    /** A new object of the table of all: its class is an object, too, and comes first. */
    private int born(Object object) {
        int type = object instanceof Class ? 0 : typeOf(object.getClass());
        Known known = add(object, type, 0, 0);
        JtraceMarks.raw(JtraceMarks.BORN | (long) known.number << 32, type);
        return known.number;
    }

    private int typeOf(Class<?> type) {
        Known last = lastType;
        if (last != null && last.get() == type) return last.number;
        JtraceObjects all = TABLES[0];
        if (all == null) return 0;
        Known known = all.find(type);
        if (known == null) {
            known = all.add(type, 0, 0, 0);
            JtraceMarks.named0(known.number, type.getName());
        }
        U.storeFence();
        lastType = known;
        return known.number;
    }

    /**
     * A symbol of a property that counts legal ones: the object goes to its next state. What happens again and again is here, and all
     * else elsewhere.
     */
    @ForceInline
    static void symbol(int on, int place, Object object) {
        long tid = U.getLong(Thread.currentThread(), JtraceMarks.TID);
        Known known = RECENT[recent(tid, on >> PROPERTY_SHIFT)];
        if (object != null && known.get() == object) {
            long slot = JtraceMarks.slot(tid);
            if (U.getLong(slot) == tid && steps(known, on, JtraceMarks.counters(slot, place))) return;
        }
        seldom(on, place, object);
    }

    /** Where a thread's last object of a property is. */
    @ForceInline
    private static int recent(long tid, int property) {
        return ((int) tid << 8 | property & 255) & RECENT_MASK;
    }

    /** The row of the automaton of the property to which a place belongs, for its symbol. */
    @ForceInline
    private static long row(int on) {
        return JtraceMarks.MACHINES + (on & ROW_MASK);
    }

    /** The object goes to its next state, and that is counted; unless it is illegal, or another thread was faster. */
    @ForceInline
    private static boolean steps(Known known, int on, long counters) {
        long word = known.word;
        long state = word & STATE_MASK;
        long next = U.getByte(row(on) + state);
        if (next == state) {
            JtraceMarks.count(counters, JtraceMarks.HELD_BACK);
            return true;
        }
        if (next == DEAD || !U.compareAndSetLong(known, WORD, word, after(word, on, next))) return false;
        JtraceMarks.count(counters, JtraceMarks.MOVED);
        return true;
    }

    /** The word behind a symbol. */
    @ForceInline
    private static long after(long word, int on, long next) {
        return (word & ~STATE_MASK) << STATE_BITS | (on >> SYMBOL_SHIFT & STATE_MASK) + 1L << STATE_BITS | next;
    }

    /** The same of any property, where the object is another one, or it is illegal, or told, or whatever else. */
    @DontInline
    static void seldom(int on, int place, Object object) {
        if (object == null) return;
        JtraceObjects table = TABLES[on >> PROPERTY_SHIFT & 255];
        if (table == null) return;
        boolean samples = table.samples;
        long mark = U.getLong(object, 0L);
        // All that are known have a hash.
        Known known = isNew(mark) ? null : table.find(object);
        if (known != null) {
            table.remember(known);
            if ((on & JtraceMarks.ADAPTIVE) != 0) {
                long tid = U.getLong(Thread.currentThread(), JtraceMarks.TID);
                long slot = JtraceMarks.slot(tid);
                if (U.getLong(slot) == tid && steps(known, on, JtraceMarks.counters(slot, place))) return;
            }
        } else if (samples && table.ignores(object, mark, place)) {
            return;
        }
        // A virtual thread that waits for the table would leave its buffer to others.
        boolean pinned = JtraceMarks.pin();
        try {
            take(table, known, on, place, object, mark);
        } finally {
            // Else it could die before its last symbol counts: nobody need hold it any more.
            Reference.reachabilityFence(object);
            JtraceMarks.unpin(pinned);
        }
    }

    private static void take(
            JtraceObjects table, Known known, int on, int place, Object object, long mark) {
        long buffer = JtraceMarks.buffer();
        if (buffer == 0 || !JtraceMarks.enter(buffer)) return;
        try {
            boolean isNew = known == null;
            if (isNew) {
                known = table.add(object, table.typeOf(object.getClass()), mark, place);
                if (known == null) return;
                table.remember(known);
            }
            // Whoever looked without the lock may have missed it, and another thread may have moved it on.
            long word;
            long state;
            long next;
            do {
                word = known.word;
                state = word & STATE_MASK;
                next = U.getByte(row(on) + state);
            } while (!U.compareAndSetLong(known, WORD, word, after(word, on, next)));
            boolean isIllegal = next == DEAD && state != DEAD;
            if (isNew || isIllegal || (on & JtraceMarks.ADAPTIVE) == 0) {
                JtraceMarks.raw1(
                    buffer, JtraceMarks.SYMBOL | state << 4 | (long) place << 12 | (long) known.number << 32);
            } else {
                JtraceMarks.count(buffer, place, next == state ? JtraceMarks.HELD_BACK : JtraceMarks.MOVED);
            }
            if (isIllegal) {
                JtraceMarks.illegal0(state << 4 | (long) place << 12, known.number, known.type, history(word));
            }
        } catch (Throwable full) {
            // It is as if the object had not been seen.
        } finally {
            JtraceMarks.leave(buffer);
        }
    }

    /** The last symbols of a word as they are told. */
    private static long history(long word) {
        long history = 0;
        for (int at = TOLD_SYMBOLS; at > 0; at--) history = history << 8 | word >>> at * STATE_BITS & STATE_MASK;
        return history;
    }

    /** The thread is at this object now. */
    private void remember(Known known) {
        int at = recent(U.getLong(Thread.currentThread(), JtraceMarks.TID), property);
        U.storeFence();
        RECENT[at] = known;
        // Who forgets the table either finds it there, or is found out here.
        U.fullFence();
        if (TABLES[property] != this) RECENT[at] = GONE;
    }

    /** What is known of an object; without the lock, one that lives on just now may be missed. */
    private Known find(Object object) {
        int hash = System.identityHashCode(object);
        Known known = find(old, hash, object);
        return known != null ? known : young.find(hash, object);
    }

    /** The same, and none is missed: an object lies among the old ones before it is away from the young ones. */
    private Known findSurely(Object object) {
        int hash = System.identityHashCode(object);
        Known known = young.find(hash, object);
        if (known != null) return known;
        U.loadFence();
        return find(old, hash, object);
    }

    private static Known find(Known[] table, int hash, Object object) {
        int mask = table.length - 1;
        for (int at = hash & mask; ; at = at + 1 & mask) {
            Known known = table[at];
            if (known == null || known.hash == hash && known.get() == object) return known;
        }
    }

    /** Puts what is not there into a table that has room; says whether the place was empty. Readers take no lock. */
    private static boolean put(Known[] table, Known known) {
        int mask = table.length - 1;
        int at = known.hash & mask;
        while (table[at] != null && table[at] != GONE) at = at + 1 & mask;
        boolean isEmpty = table[at] == null;
        U.storeFence();
        table[at] = known;
        return isEmpty;
    }

    /** The object's entry, which is made unless the object is ignored: then there is none. */
    private synchronized Known add(Object object, int type, long mark, int place) {
        Known found = isNew(U.getLong(object, 0L)) ? null : find(object);
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
        if (isDead(sentinel)) sweepYoung();
        if (young.count == young.known.length) young = young.larger();
        int hash = System.identityHashCode(object);
        Known known = new Known(object, hash, ++last, type);
        young.add(known);
        return known;
    }

    /** Whether a reference's object has died; that does not keep it alive, as asking for it would while objects are marked. */
    private static boolean isDead(WeakReference<?> reference) {
        if (CAN_ASK) return reference.refersTo(null);
        return IS_NARROW ? U.getInt(reference, REFERENT) == 0 : U.getLong(reference, REFERENT) == 0;
    }

    /** After a collection: tells of the young that have died, and moves the others. */
    private void sweepYoung() {
        collected = true;
        Young all = young;
        int alive = 0;
        for (int at = 0; at < all.count; at++) {
            if (!isDead(all.known[at])) alive++;
        }
        // Whatever needs memory comes first, so that nothing is done by halves.
        boolean isLarge = all.known.length > LEAST && all.count < all.known.length / 8;
        Young next = isLarge ? new Young(all.known.length / 2) : all;
        WeakReference<Object> another = new WeakReference<>(new Object());
        if (2 * (oldUsed + alive) >= old.length) rebuild(alive);
        for (int at = 0; at < all.count; at++) {
            Known known = all.known[at];
            if (isDead(known)) died(known);
            else if (put(old, known)) oldUsed++;
        }
        // Readers find there what is no longer here.
        U.storeFence();
        if (next == all) all.clear();
        else young = next;
        sentinel = another;
    }

    /** Makes room for so many more. */
    private void rebuild(int more) {
        int alive = more;
        for (Known known : old) {
            if (known != null && !isDead(known)) alive++;
        }
        int length = LEAST;
        while (length < 4 * alive) length *= 2;
        Known[] all = old;
        Known[] next = new Known[length];
        int used = 0;
        for (Known known : all) {
            if (known == null || known == GONE) continue;
            if (isDead(known)) {
                died(known);
            } else {
                put(next, known);
                used++;
            }
        }
        oldUsed = used;
        U.storeFence();
        old = next;
    }

    /** Tells of the old that have died. */
    private void sweepOld() {
        collected = false;
        Known[] all = old;
        for (int at = 0; at < all.length; at++) {
            Known known = all[at];
            if (known == null || known == GONE || !isDead(known)) continue;
            all[at] = GONE;
            died(known);
        }
        for (int at = property; at < RECENT.length; at += 256) {
            if (isDead(RECENT[at])) RECENT[at] = GONE;
        }
    }

    private void died(Known known) {
        if (property != 0 && U.getByte(JtraceMarks.MACHINES + (property << 12) + MAY_END + (known.word & STATE_MASK)) != 0) return;
        JtraceMarks.raw(
            JtraceMarks.DEATH | (known.word & STATE_MASK) << 4 | (long) property << 12 | (long) known.number << 32, known.type);
    }

    /** Looks now and then whether objects have died. */
    static final int NOW_AND_THEN = 0;
    /** Tells of all that have died. */
    static final int ALL = 1;
    /** The JVM ends: all that is left counts as dead. */
    static final int AT_END = 2;

    /** Tells of the dead of all tables. */
    static void sweepAll(int how) {
        long buffer = JtraceMarks.buffer();
        // Nothing of this is told, should it be woven.
        boolean entered = buffer != 0 && JtraceMarks.enter(buffer);
        try {
            for (JtraceObjects table : TABLES) {
                if (table != null) table.sweep(how);
            }
        } finally {
            if (entered) JtraceMarks.leave(buffer);
        }
    }

    private synchronized void sweep(int how) {
        if (samples) tellRates();
        // Those that a collector finds after the end have been told.
        if (over) return;
        if (how != NOW_AND_THEN || isDead(sentinel)) sweepYoung();
        long now = System.nanoTime();
        if (how != NOW_AND_THEN || collected && now - nextLook >= 0) {
            sweepOld();
            long after = System.nanoTime();
            nextLook = after + LOOK_SHARE * (after - now);
        }
        if (how != AT_END || property == 0) return;
        for (Known known : old) {
            if (known != null && known != GONE) died(known);
        }
        over = true;
    }
}
