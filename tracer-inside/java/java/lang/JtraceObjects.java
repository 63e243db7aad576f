package java.lang;

import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Numbers and states of objects, which are known by themselves and not by their hashes, however collectors move them. An
 * object that nothing else knows is forgotten: its death is told with its last state.
 */
final class JtraceObjects {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Least places of a table of objects, a power of two; more than half of them are never taken. */
    private static final int LEAST = 1024;
    /** Old objects are looked at for this part of the time at most. */
    private static final int LOOK_SHARE = 64;
    /** The longest wait between two looks: one that was held up says nothing of what the next one takes. */
    private static final long MOST_WAIT_NS = 20_000_000_000L;

    /** The table of objects that only have a number; those of properties follow. */
    private static final JtraceObjects[] TABLES = new JtraceObjects[256];

    /** The state after an illegal symbol; nothing leads out of it. */
    private static final int DEAD = 63;
    /** In the place of a symbol: whether an object may die in a state. */
    private static final int MAY_END = 63 << 6;

    private static final long WORD = JtraceJdk.offset(JtraceKnown.class, "word");
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
    private static final JtraceKnown[] RECENT = nobody(64 << 8);
    private static final int RECENT_MASK = (64 << 8) - 1;

    private final int property;
    /** Which objects are tracked, where those are not all. */
    private volatile JtraceRates rates;
    private JtraceYoung young = new JtraceYoung(LEAST);
    /** Those that have lived on. */
    private JtraceKnown[] old = new JtraceKnown[LEAST];
    /** Places there that are not empty. */
    private int oldUsed;
    /** Dies with the next collection. */
    private WeakReference<Object> sentinel = new WeakReference<>(new Object());
    /** Whether there was a collection since the old ones were looked at, and when they may be again. */
    private boolean collected;
    private long nextLook = System.nanoTime();
    /** The class whose number was asked for last. */
    private JtraceKnown lastType;
    private int last;
    /** Whether the JVM ends, and all deaths were told. */
    private boolean over;

    private static JtraceKnown[] nobody(int length) {
        JtraceKnown[] nobody = new JtraceKnown[length];
        java.util.Arrays.fill(nobody, JtraceKnown.GONE);
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
        for (int at = property; at < RECENT.length; at += 256) RECENT[at] = JtraceKnown.GONE;
    }

    /** From now on fewer objects of a property are tracked: the limit with which classes begin, and how often it may be halved. */
    static void sample(int property, int base, int level) {
        JtraceObjects table = TABLES[property];
        if (table != null) table.lower(base, level);
    }

    private synchronized void lower(int base, int level) {
        JtraceRates rates = this.rates == null ? new JtraceRates(property) : this.rates;
        rates.lower(base, level);
        this.rates = rates;
    }

    private synchronized void tellRates() {
        if (rates != null) rates.tell();
    }

    /** Whether an object that is not in the table is none of those that are tracked. */
    private boolean ignores(JtraceRates rates, Object object, long mark, int place) {
        JtraceRates.Rate rate = rates.above(object);
        if (rate == null || findSurely(object) != null) return false;
        JtraceRates.ignored(rate, mark, place);
        return true;
    }

    /** The number of an object; 0 where it gets none. */
    static int number(Object object) {
        JtraceObjects all = TABLES[0];
        if (all == null) return 0;
        JtraceKnown known = all.find(object);
        return known != null ? known.number : all.numbered(object, false);
    }

    /** The number of an object's class; 0 where it gets none. */
    static int type(Object object) {
        JtraceObjects all = TABLES[0];
        if (all == null) return 0;
        Class<?> type = object.getClass();
        JtraceKnown last = all.lastType;
        return last != null && last.get() == type ? last.number : all.numbered(type, true);
    }

    /** The number of an object that may have none yet, or of a class as that of others. */
    private int numbered(Object object, boolean asType) {
        boolean pinned = JtraceMarks.pin();
        long buffer = JtraceMarks.buffer();
        boolean entered = buffer != 0 && JtraceMarks.enter(buffer);
        try {
            if (!entered) return 0;
            return asType ? typeOf((Class<?>) object) : born(object);
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
        JtraceKnown known = add(object, type, 0, 0);
        JtraceMarks.raw(JtraceMarks.BORN | (long) known.number << 32, type);
        return known.number;
    }

    private int typeOf(Class<?> type) {
        JtraceKnown last = lastType;
        if (last != null && last.get() == type) return last.number;
        JtraceObjects all = TABLES[0];
        if (all == null) return 0;
        JtraceKnown known = all.find(type);
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
        JtraceKnown known = RECENT[recent(tid, on >> PROPERTY_SHIFT)];
        if (object != null && known.get() == object) {
            long counters = JtraceMarks.counters(tid);
            if (counters != 0 && steps(known, on, counters, place)) return;
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
    private static boolean steps(JtraceKnown known, int on, long counters, int place) {
        long word = known.word;
        long state = word & STATE_MASK;
        long next = U.getByte(row(on) + state);
        if (next == state) {
            JtraceMarks.count(counters, place, JtraceMarks.HELD_BACK);
            return true;
        }
        if (next == DEAD || !U.compareAndSetLong(known, WORD, word, after(word, on, next))) return false;
        JtraceMarks.count(counters, place, JtraceMarks.MOVED);
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
        JtraceRates rates = table.rates;
        long mark = U.getLong(object, 0L);
        // All that are known have a hash.
        JtraceKnown known = JtraceRates.isNew(mark) ? null : table.known(object);
        if (known != null && (on & JtraceMarks.ADAPTIVE) != 0) {
            // A virtual thread stays where it is until that is done.
            long buffer = JtraceMarks.home(Thread.currentThread());
            boolean isFree = buffer != 0 && U.getLong(buffer + JtraceMarks.BUSY) == 0;
            if (isFree && steps(known, on, JtraceMarks.countersOf(buffer), place)) return;
        } else if (known == null && rates != null && table.ignores(rates, object, mark, place)) {
            return;
        }
        // A virtual thread that waits for the table would leave its buffer to others.
        boolean pinned = JtraceMarks.pin();
        try {
            take(table, known, on, place, object, mark);
        } finally {
            // Else it could die before its last symbol counts: nobody need hold it any more.
            JtraceJdk.keep(object);
            JtraceMarks.unpin(pinned);
        }
    }

    private static void take(
            JtraceObjects table, JtraceKnown known, int on, int place, Object object, long mark) {
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
                JtraceMarks.count(JtraceMarks.countersOf(buffer), place, next == state ? JtraceMarks.HELD_BACK : JtraceMarks.MOVED);
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

    /** What is known of an object that has a hash. */
    private JtraceKnown known(Object object) {
        JtraceKnown known = RECENT[recent(U.getLong(Thread.currentThread(), JtraceMarks.TID), property)];
        if (known.get() == object) return known;
        known = find(object);
        if (known != null) remember(known);
        return known;
    }

    /** The thread is at this object now. */
    private void remember(JtraceKnown known) {
        int at = recent(U.getLong(Thread.currentThread(), JtraceMarks.TID), property);
        U.storeFence();
        RECENT[at] = known;
        // Who forgets the table either finds it there, or is found out here.
        U.fullFence();
        if (TABLES[property] != this) RECENT[at] = JtraceKnown.GONE;
    }

    /** What is known of an object; without the lock, one that lives on just now may be missed. */
    private JtraceKnown find(Object object) {
        int hash = System.identityHashCode(object);
        JtraceKnown known = find(old, hash, object);
        return known != null ? known : young.find(hash, object);
    }

    /** The same, and none is missed: an object lies among the old ones before it is away from the young ones. */
    private JtraceKnown findSurely(Object object) {
        int hash = System.identityHashCode(object);
        JtraceKnown known = young.find(hash, object);
        if (known != null) return known;
        U.loadFence();
        return find(old, hash, object);
    }

    private static JtraceKnown find(JtraceKnown[] table, int hash, Object object) {
        int mask = table.length - 1;
        for (int at = hash & mask; ; at = at + 1 & mask) {
            JtraceKnown known = table[at];
            if (known == null || known.hash == hash && known.get() == object) return known;
        }
    }

    /** Puts what is not there into a table that has room; says whether the place was empty. Readers take no lock. */
    private static boolean put(JtraceKnown[] table, JtraceKnown known) {
        int mask = table.length - 1;
        int at = known.hash & mask;
        while (table[at] != null && table[at] != JtraceKnown.GONE) at = at + 1 & mask;
        boolean isEmpty = table[at] == null;
        U.storeFence();
        table[at] = known;
        return isEmpty;
    }

    /** The object's entry, which is made unless the object is ignored: then there is none. */
    private synchronized JtraceKnown add(Object object, int type, long mark, int place) {
        JtraceKnown found = JtraceRates.isNew(U.getLong(object, 0L)) ? null : find(object);
        if (found != null) return found;
        if (rates != null && !rates.admits(object, type, mark, place)) return null;
        if (JtraceKnown.isDead(sentinel)) sweepYoung();
        if (young.count == young.known.length) young = young.larger();
        int hash = System.identityHashCode(object);
        JtraceKnown known = new JtraceKnown(object, hash, ++last, type);
        young.add(known);
        return known;
    }

    /** After a collection: tells of the young that have died, and moves the others. */
    private void sweepYoung() {
        collected = true;
        JtraceYoung all = young;
        int alive = 0;
        for (int at = 0; at < all.count; at++) {
            if (!JtraceKnown.isDead(all.known[at])) alive++;
        }
        // Whatever needs memory comes first, so that nothing is done by halves.
        boolean isLarge = all.known.length > LEAST && all.count < all.known.length / 8;
        JtraceYoung next = isLarge ? new JtraceYoung(all.known.length / 2) : all;
        WeakReference<Object> another = new WeakReference<>(new Object());
        if (2 * (oldUsed + alive) >= old.length) rebuild(alive);
        for (int at = 0; at < all.count; at++) {
            JtraceKnown known = all.known[at];
            if (JtraceKnown.isDead(known)) died(known);
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
        for (JtraceKnown known : old) {
            if (known != null && !JtraceKnown.isDead(known)) alive++;
        }
        int length = LEAST;
        while (length < 4 * alive) length *= 2;
        JtraceKnown[] all = old;
        JtraceKnown[] next = new JtraceKnown[length];
        int used = 0;
        for (JtraceKnown known : all) {
            if (known == null || known == JtraceKnown.GONE) continue;
            if (JtraceKnown.isDead(known)) {
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
        JtraceKnown[] all = old;
        for (int at = 0; at < all.length; at++) {
            JtraceKnown known = all[at];
            if (known == null || known == JtraceKnown.GONE || !JtraceKnown.isDead(known)) continue;
            all[at] = JtraceKnown.GONE;
            died(known);
        }
        for (int at = property; at < RECENT.length; at += 256) {
            if (JtraceKnown.isDead(RECENT[at])) RECENT[at] = JtraceKnown.GONE;
        }
    }

    private void died(JtraceKnown known) {
        if (over) return;
        long state = known.word & STATE_MASK;
        if (property != 0 && U.getByte(JtraceMarks.MACHINES + (property << 12) + MAY_END + state) != 0) return;
        JtraceMarks.raw(
            JtraceMarks.DEATH | state << 4 | (long) property << 12 | (long) known.number << 32, known.type);
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
        tellRates();
        if (how != NOW_AND_THEN || JtraceKnown.isDead(sentinel)) sweepYoung();
        long now = System.nanoTime();
        if (how != NOW_AND_THEN || collected && now - nextLook >= 0) {
            sweepOld();
            long after = System.nanoTime();
            nextLook = after + Math.min(LOOK_SHARE * (after - now), MOST_WAIT_NS);
        }
        if (how != AT_END || property == 0) return;
        for (JtraceKnown known : old) {
            if (known != null && known != JtraceKnown.GONE) died(known);
        }
        // Those that a collector finds from now on have been told.
        over = true;
    }
}
