package java.lang;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import jdk.internal.misc.Unsafe;

/**
 * Numbers and states of objects, which are known by themselves and not by their hashes, however collectors move them. An
 * object that nothing else knows is forgotten: its death is told with its last state.
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

    private final int property;
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
        TABLES[property] = null;
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
        Known known = add(object, type);
        JtraceMarks.raw(JtraceMarks.BORN | (long) known.number << 32, type);
        return known.number;
    }

    private static int typeOf(Object object) {
        JtraceObjects all = TABLES[0];
        if (all == null) return 0;
        Class<?> type = object.getClass();
        Known known = all.find(type);
        if (known == null) {
            known = all.add(type, 0);
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
        Known known = table.find(object);
        int state = known == null ? 0 : known.state;
        int next = U.getByte(machine + state);
        if (known != null && next == state && (on & JtraceMarks.ADAPTIVE) != 0) {
            long buffer = JtraceMarks.buffer();
            if (buffer != 0 && U.getLong(buffer + JtraceMarks.BUSY) == 0) {
                JtraceMarks.count(buffer, place, JtraceMarks.SYMBOL);
            }
            return;
        }
        // A virtual thread that waits for the table would leave its buffer to others.
        boolean pinned = JtraceMarks.pin();
        try {
            take(table, known, place, symbol, machine, object);
        } finally {
            // Else it could die before its last symbol counts: nobody need hold it any more.
            Reference.reachabilityFence(object);
            JtraceMarks.unpin(pinned);
        }
    }

    private static void take(JtraceObjects table, Known known, int place, int symbol, long machine, Object object) {
        long buffer = JtraceMarks.buffer();
        if (buffer == 0 || !enter(buffer)) return;
        try {
            if (known == null) known = table.add(object, typeOf(object));
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

    private synchronized Known add(Object object, int type) {
        Known found = find(object);
        if (found != null) return found;
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
        if (!atEnd || property == 0) return;
        for (Known chain : buckets) {
            for (; chain != null; chain = chain.next) died(chain);
        }
        // Those of them that a collector finds now have been told.
        over = true;
    }
}
