package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Calls that are counted by what is around them: a tree of calling contexts for each thread, which only that thread writes. A node stands
 * for a place with the places under way around it. Entering a region goes to a child and counts there, leaving it goes to the parent:
 * no event leaves the JVM for either.
 *
 * <p>The tree lies outside of the heap ({@code tracer-inside/src/memory/contexts.rs}): a header, nodes of 32 bytes, and from the end on
 * tables of children. Whatever points into it is an offset. What finds no room is counted at its place alone.
 *
 * <p>What takes time is memory that is in no cache. So a child is found by one look into its parent's table, nearly always, and is counted
 * there: its own node is looked at when something is entered within it.
 */
final class JtraceContexts {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** The header: the node at which the thread is. */
    private static final int CURRENT = 0;
    /** Numbers the visits, and what comes between their pauses, with the sign: what is kept in code is good for one of them. */
    private static final int EPOCH = 4;
    /** Where the next node will be, and where their memory ends. */
    private static final int USED = 8;
    private static final int NODES_END = 12;
    /** Where the last table begins, and where their memory does; and how large one is that there is no memory for. */
    private static final int TABLES = 16;
    private static final int TABLES_FLOOR = 20;
    private static final int WANTED = 24;
    /** Not 0 where there will be no more room. */
    private static final int IS_FULL = 28;
    /** Regions under way that found no room, and the node that is around the outermost of them. */
    private static final int BEYOND = 32;
    private static final int BACK_TO = 36;

    /**
     * A node: its place, its parent, where its table of children is, and the entry of an only child. In the upper half of a table's
     * offset stands how many bytes it has, less those of one entry. The first table is the node's own entry.
     */
    private static final int PLACE = 0;
    private static final int PARENT = 4;
    private static final int TABLE = 8;
    private static final int ONLY = 16;
    private static final int NODE_BYTES = 32;
    /** An entry of a table: a child with its place, turned over so that it is not 0, and how often the child was entered. */
    private static final int CALLS = 8;
    private static final int ENTRY_BYTES = 16;
    /** Bytes of the smallest table that is none of these, and of the largest. */
    private static final int LEAST_BYTES = 4 * ENTRY_BYTES;
    private static final int MOST_BYTES = 1 << 19;

    /**
     * The first node is around the outermost regions. A thread is at the second one while it is beyond the room: it has no place, and no
     * children. The third is the root of what is counted after a pause.
     */
    private static final int ROOT = 64;
    private static final int NOWHERE = ROOT + NODE_BYTES;
    /**
     * The sign of a place whose region was under way when counting began, and has ended: what comes now is around that. Such a node is
     * the root from then on.
     */
    private static final int LEFT = 1 << 31;
    /** No place: such a child counts by how many exceptions its parent was left. */
    private static final int ERRORS = 1 << 30;
    /** The sign of a place of whose arrays the bytes are counted, and not how many there are. */
    private static final int BYTES = 1 << 29;
    /** More regions than end in a session. */
    private static final int EVER = 1 << 30;

    private JtraceContexts() {}

    /**
     * A region is entered whose code keeps what is around it until it is left. Gives that, which is negative; 0 where there is no tree, and
     * it is counted at the place.
     */
    @ForceInline
    static long entered(long tree, int place) {
        if (tree > JtraceMarks.REFUSED) {
            int current = U.getInt(tree + CURRENT);
            long entry = first(tree, current, place);
            if (U.getInt(entry) == ~place) return goTo(tree, current, entry);
        }
        return enteredSlowly(place);
    }

    @ForceInline
    private static long goTo(long tree, int current, long entry) {
        count(entry);
        U.putInt(tree + CURRENT, child(entry));
        return (long) U.getInt(tree + EPOCH) << 32 | current;
    }

    /** The same where the child is not where it is looked for first, or is not there yet, or there is no tree. */
    @DontInline
    private static long enteredSlowly(int place) {
        long tid = JtraceMarks.tid();
        long tree = JtraceMarks.contexts(tid);
        if (tree == 0) return 0;
        int current = U.getInt(tree + CURRENT);
        long entry = entryOrNew(tid, tree, current, place);
        if (entry != 0) return goTo(tree, current, entry);
        JtraceMarks.count(JtraceMarks.counters(tid), place, JtraceMarks.ENTERED);
        if (current != NOWHERE) beyond(tree, current);
        return (long) U.getInt(tree + EPOCH) << 32 | current;
    }

    /** The end of such a region: whatever began within it has ended, too. */
    @ForceInline
    static void left(long tree, long kept) {
        // What is kept from before a pause, or for an earlier visit, is of no tree that there is.
        if (U.getInt(tree + EPOCH) == (int) (kept >>> 32)) U.putInt(tree + CURRENT, (int) kept);
    }

    /** The same by an exception. */
    static void threw(long tid, long tree, int place, long kept) {
        if (U.getInt(tree + EPOCH) != (int) (kept >>> 32)) return;
        int around = (int) kept;
        int of = U.getInt(tree + CURRENT);
        while (of > NOWHERE && parent(tree, of) != around) of = parent(tree, of);
        if (of <= NOWHERE || !countError(tid, tree, of)) {
            JtraceMarks.count(JtraceMarks.counters(tid), place, JtraceMarks.THREW);
        }
        U.putInt(tree + CURRENT, around);
    }

    /** A region was entered and left, within which there is none; says whether it was counted. */
    @ForceInline
    static boolean passed(long tree, int place) {
        if (tree > JtraceMarks.REFUSED) {
            long entry = first(tree, U.getInt(tree + CURRENT), place);
            if (U.getInt(entry) == ~place) {
                count(entry);
                return true;
            }
        }
        return passedSlowly(place);
    }

    @DontInline
    private static boolean passedSlowly(int place) {
        long tid = JtraceMarks.tid();
        long tree = JtraceMarks.contexts(tid);
        if (tree == 0) return false;
        long entry = entryOrNew(tid, tree, U.getInt(tree + CURRENT), place);
        if (entry == 0) return false;
        count(entry);
        return true;
    }

    /** So many arrays were made, of so many bytes; says whether they were counted. */
    @DontInline
    static boolean made(long tid, int place, long arrays, long bytes) {
        long tree = JtraceMarks.contexts(tid);
        if (tree == 0) return false;
        int current = U.getInt(tree + CURRENT);
        if (entryOrNew(tid, tree, current, place) == 0) return false;
        long ofBytes = entryOrNew(tid, tree, current, place | BYTES);
        if (ofBytes == 0) return false;
        // The table may be another one since.
        long entry = entry(tree, current, place);
        U.putLong(entry + CALLS, U.getLong(entry + CALLS) + arrays);
        U.putLong(ofBytes + CALLS, U.getLong(ofBytes + CALLS) + bytes);
        return true;
    }

    /** A region is entered; says whether that was counted, and not to be counted at the place. */
    @DontInline
    static boolean enter(long tid, int place) {
        long tree = JtraceMarks.contexts(tid);
        if (tree == 0) return false;
        int current = U.getInt(tree + CURRENT);
        long entry = entryOrNew(tid, tree, current, place);
        if (entry == 0) beyond(tree, current);
        else goTo(tree, current, entry);
        return entry != 0;
    }

    private static int place(long tree, int node) {
        return U.getInt(tree + node + PLACE);
    }

    private static int parent(long tree, int node) {
        return U.getInt(tree + node + PARENT);
    }

    @ForceInline
    private static void count(long entry) {
        U.putLong(entry + CALLS, U.getLong(entry + CALLS) + 1);
    }

    @ForceInline
    private static int child(long entry) {
        return U.getInt(entry + 4);
    }

    /** A node was left by an exception; says whether there was room for that. */
    private static boolean countError(long tid, long tree, int node) {
        long errors = entryOrNew(tid, tree, node, ERRORS);
        if (errors == 0) return false;
        count(errors);
        return true;
    }

    /** A region found no room. Until it is left, none within it is looked for. */
    private static void beyond(long tree, int current) {
        if (current != NOWHERE) {
            U.putInt(tree + BACK_TO, current);
            U.putInt(tree + BEYOND, 0);
            U.putInt(tree + CURRENT, NOWHERE);
        }
        int beyond = U.getInt(tree + BEYOND);
        if (beyond < EVER) U.putInt(tree + BEYOND, beyond + 1);
    }

    /** Where in a table a place is looked for first, more bits of it than any table has. */
    @ForceInline
    private static int hash(int place) {
        return place * 0x9e3779b1 >>> 12;
    }

    /** The entry of a node's child for a place, if it has that and no other one is in its place. */
    @ForceInline
    private static long first(long tree, int node, int place) {
        long table = U.getLong(tree + node + TABLE);
        return tree + (int) table + (hash(place) & (int) (table >>> 32));
    }

    /** The entry of a node's child for a place; 0 where there is none. */
    private static long entry(long tree, int node, int place) {
        long table = U.getLong(tree + node + TABLE);
        int mask = (int) (table >>> 32);
        int first = hash(place) & mask;
        int at = first;
        do {
            long entry = tree + (int) table + at;
            if (U.getInt(entry) == ~place) return entry;
            if (U.getInt(entry) == 0) return 0;
            at = at + ENTRY_BYTES & mask;
        } while (at != first);
        return 0;
    }

    /** The entry of a node's child for a place, which is made where there is none; 0 where there is no room. */
    private static long entryOrNew(long tid, long tree, int parent, int place) {
        // A thread that lost its CPU between two visits may be where there is no node any more.
        if (parent == NOWHERE || parent >= U.getInt(tree + USED)) return 0;
        long entry = entry(tree, parent, place);
        if (entry != 0) return entry;
        int node = U.getInt(tree + USED);
        if (node >= U.getInt(tree + NODES_END)) {
            if (U.getInt(tree + IS_FULL) == 0) JtraceMarks.grow(tid);
            if (node >= U.getInt(tree + NODES_END)) return 0;
        }
        long table = tableWithRoom(tid, tree, parent, place);
        if (table == 0) return 0;
        U.putInt(tree + node + PLACE, place);
        U.putInt(tree + node + PARENT, parent);
        U.putLong(tree + node + TABLE, node + ONLY);
        U.putLong(tree + node + ONLY, 0);
        U.putLong(tree + node + ONLY + CALLS, 0);
        // Who reads the tree finds nodes whole.
        U.putIntRelease(null, tree + USED, node + NODE_BYTES);
        return put(tree, table, (long) node << 32 | ~place & 0xffffffffL, 0);
    }

    /**
     * The table of a node, with room for one more place: it gets a larger one where three quarters of it are taken, or one quarter and
     * where the place is looked for first. 0 where there is no room.
     */
    private static long tableWithRoom(long tid, long tree, int node, int place) {
        long table = U.getLong(tree + node + TABLE);
        int children = 0;
        for (int at = 0; at <= (int) (table >>> 32); at += ENTRY_BYTES) {
            if (U.getInt(tree + (int) table + at) != 0) children++;
        }
        while (true) {
            int mask = (int) (table >>> 32);
            int entries = mask / ENTRY_BYTES + 1;
            boolean isTaken = U.getInt(tree + (int) table + (hash(place) & mask)) != 0;
            if (4 * children < (isTaken ? 1 : 3) * entries) return table;
            long larger = larger(tid, tree, table);
            if (larger == 0) return children + 1 < entries ? table : 0;
            U.putLong(tree + node + TABLE, larger);
            table = larger;
        }
    }

    /** A table with what is in another one, and room for twice as much; 0 where there is no room. */
    private static long larger(long tid, long tree, long table) {
        int mask = (int) (table >>> 32);
        int bytes = mask == 0 ? LEAST_BYTES : 2 * (mask + ENTRY_BYTES);
        if (bytes > MOST_BYTES) return 0;
        if (U.getInt(tree + TABLES) - bytes < U.getInt(tree + TABLES_FLOOR)) {
            if (U.getInt(tree + IS_FULL) == 0) {
                U.putInt(tree + WANTED, bytes);
                JtraceMarks.grow(tid);
            }
            if (U.getInt(tree + TABLES) - bytes < U.getInt(tree + TABLES_FLOOR)) return 0;
        }
        int from = U.getInt(tree + TABLES) - bytes;
        U.putInt(tree + TABLES, from);
        long larger = (long) (bytes - ENTRY_BYTES) << 32 | from;
        for (int at = 0; at < bytes; at += 8) {
            U.putLong(tree + from + at, 0);
        }
        for (int at = 0; at <= mask; at += ENTRY_BYTES) {
            long entry = tree + (int) table + at;
            if (U.getInt(entry) != 0) put(tree, larger, U.getLong(entry), U.getLong(entry + CALLS));
        }
        return larger;
    }

    private static long put(long tree, long table, long child, long calls) {
        int mask = (int) (table >>> 32);
        int at = hash(~(int) child) & mask;
        while (U.getInt(tree + (int) table + at) != 0) at = at + ENTRY_BYTES & mask;
        long entry = tree + (int) table + at;
        U.putLong(entry + CALLS, calls);
        // Who reads the tree finds entries whole.
        U.putLongRelease(null, entry, child);
        return entry;
    }

    /** A region is left, by an exception or not; says whether nothing is to be counted at the place. */
    @DontInline
    static boolean leave(long tid, int place, boolean thrown) {
        long tree = JtraceMarks.contexts(tid);
        if (tree == 0) return false;
        int current = U.getInt(tree + CURRENT);
        if (current == NOWHERE) {
            int beyond = U.getInt(tree + BEYOND) - 1;
            if (beyond < EVER - 1) U.putInt(tree + BEYOND, beyond);
            if (beyond == 0) U.putInt(tree + CURRENT, U.getInt(tree + BACK_TO));
            return !thrown;
        }
        // Regions within may have ended unseen: the stack was so full that no mark could be made of the exception.
        int of = current;
        // After a pause the outermost node is another one than the first, and nothing is around it either.
        while (of > NOWHERE && place(tree, of) != place) of = parent(tree, of);
        if (of <= NOWHERE) {
            begunBefore(tid, tree, place);
            return !thrown;
        }
        U.putInt(tree + CURRENT, parent(tree, of));
        return !thrown || countError(tid, tree, of);
    }

    /** The end of a region that began before anything was counted. */
    private static void begunBefore(long tid, long tree, int place) {
        int root = U.getInt(tree + CURRENT);
        while (root > NOWHERE && place(tree, root) >= 0) root = parent(tree, root);
        long next = entryOrNew(tid, tree, root, place | LEFT);
        U.putInt(tree + CURRENT, next == 0 ? NOWHERE : child(next));
        // Where there is no room for that, nobody knows from now on what is around what comes.
        if (next == 0) U.putInt(tree + BEYOND, EVER);
    }
}
