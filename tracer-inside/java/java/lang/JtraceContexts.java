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
 * <p>A child is found by one look into its parent's table, nearly always: a processor that guesses which child comes next is often
 * wrong, and one that looks for it in a large table waits for memory.
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
     * A node: its place, its parent, how often it was entered, an entry for an only child, and where its table of children is. In
     * the upper half of that stands how many bytes the table has, less those of one entry. The first table is that one entry.
     */
    private static final int PLACE = 0;
    private static final int PARENT = 4;
    private static final int CALLS = 8;
    private static final int ONLY = 16;
    private static final int TABLE = 24;
    private static final int NODE_BYTES = 32;
    private static final int ENTRY_BYTES = 8;
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
    /** More regions than end in a session. */
    private static final int EVER = 1 << 30;

    private JtraceContexts() {}

    /**
     * A region is entered whose code keeps what is around it until it is left. Gives that, which is negative; 0 where there is no tree, and
     * it is counted at the place.
     */
    @DontInline
    static long entered(long tree, int place) {
        int current = U.getInt(tree + CURRENT);
        int child = child(tree, current, place);
        if (child == 0) return enteredFirst(place);
        return goTo(tree, current, child);
    }

    @ForceInline
    private static long goTo(long tree, int current, int child) {
        count(tree, child);
        U.putInt(tree + CURRENT, child);
        return (long) U.getInt(tree + EPOCH) << 32 | current;
    }

    /** The same where there is no such child yet, or no tree. */
    @DontInline
    static long enteredFirst(int place) {
        long tid = JtraceMarks.tid();
        long tree = JtraceMarks.contexts(tid);
        if (tree == 0) return 0;
        int current = U.getInt(tree + CURRENT);
        int child = childOrNew(tid, tree, current, place);
        if (child != 0) return goTo(tree, current, child);
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
    @DontInline
    static boolean passed(long tree, int place) {
        int child = child(tree, U.getInt(tree + CURRENT), place);
        if (child == 0) return passedFirst(place);
        count(tree, child);
        return true;
    }

    @DontInline
    static boolean passedFirst(int place) {
        long tid = JtraceMarks.tid();
        long tree = JtraceMarks.contexts(tid);
        if (tree == 0) return false;
        int child = childOrNew(tid, tree, U.getInt(tree + CURRENT), place);
        if (child == 0) return false;
        count(tree, child);
        return true;
    }

    /** A region is entered; says whether that was counted, and not to be counted at the place. */
    @DontInline
    static boolean enter(long tid, int place) {
        long tree = JtraceMarks.contexts(tid);
        if (tree == 0) return false;
        int current = U.getInt(tree + CURRENT);
        int child = childOrNew(tid, tree, current, place);
        if (child == 0) beyond(tree, current);
        else goTo(tree, current, child);
        return child != 0;
    }

    private static int place(long tree, int node) {
        return U.getInt(tree + node + PLACE);
    }

    private static int parent(long tree, int node) {
        return U.getInt(tree + node + PARENT);
    }

    @ForceInline
    private static void count(long tree, int node) {
        long calls = tree + node + CALLS;
        U.putLong(calls, U.getLong(calls) + 1);
    }

    /** A node was left by an exception; says whether there was room for that. */
    private static boolean countError(long tid, long tree, int node) {
        int errors = childOrNew(tid, tree, node, ERRORS);
        if (errors == 0) return false;
        count(tree, errors);
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

    /** What stands in a table: a child, and its place turned over, which is not 0. */
    private static long entry(int child, int place) {
        return (long) child << 32 | ~place & 0xffffffffL;
    }

    /** The child of a node for a place; 0 where there is none. */
    @ForceInline
    private static int child(long tree, int node, int place) {
        long table = U.getLong(tree + node + TABLE);
        long entry = U.getLong(tree + (int) table + (hash(place) & (int) (table >>> 32)));
        return (int) entry == ~place ? (int) (entry >>> 32) : further(tree, table, place);
    }

    /** The same behind the first entry in question. */
    @DontInline
    private static int further(long tree, long table, int place) {
        int mask = (int) (table >>> 32);
        int first = hash(place) & mask;
        for (int at = first + ENTRY_BYTES & mask; at != first; at = at + ENTRY_BYTES & mask) {
            long entry = U.getLong(tree + (int) table + at);
            if ((int) entry == ~place) return (int) (entry >>> 32);
            if (entry == 0) return 0;
        }
        return 0;
    }

    /** The child of a node for a place, which is made where there is none; 0 where there is no room. */
    private static int childOrNew(long tid, long tree, int parent, int place) {
        // A thread that lost its CPU between two visits may be where there is no node any more.
        if (parent == NOWHERE || parent >= U.getInt(tree + USED)) return 0;
        int child = child(tree, parent, place);
        if (child != 0) return child;
        int node = U.getInt(tree + USED);
        if (node >= U.getInt(tree + NODES_END)) {
            if (U.getInt(tree + IS_FULL) == 0) JtraceMarks.grow(tid);
            if (node >= U.getInt(tree + NODES_END)) return 0;
        }
        if (!enterTable(tid, tree, parent, entry(node, place))) return 0;
        U.putInt(tree + node + PLACE, place);
        U.putInt(tree + node + PARENT, parent);
        U.putLong(tree + node + CALLS, 0);
        U.putLong(tree + node + ONLY, 0);
        U.putLong(tree + node + TABLE, node + ONLY);
        // Who reads the tree finds nodes whole.
        U.putIntRelease(null, tree + USED, node + NODE_BYTES);
        return node;
    }

    /** Puts a child into the table of its parent, which gets a larger one where it is half full, or a quarter and the first place is taken. */
    private static boolean enterTable(long tid, long tree, int parent, long entry) {
        long table = U.getLong(tree + parent + TABLE);
        int mask = (int) (table >>> 32);
        int entries = mask / ENTRY_BYTES + 1;
        int children = 0;
        for (int at = 0; at <= mask; at += ENTRY_BYTES) {
            if (U.getLong(tree + (int) table + at) != 0) children++;
        }
        boolean isTaken = U.getLong(tree + (int) table + (hash(~(int) entry) & mask)) != 0;
        if (isTaken ? 4 * children >= entries : children > 0 && 2 * children >= entries) {
            long larger = larger(tid, tree, table);
            if (larger != 0) {
                U.putLong(tree + parent + TABLE, larger);
                table = larger;
            } else if (children + 1 >= entries) {
                return false;
            }
        }
        put(tree, table, entry);
        return true;
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
        for (int at = 0; at < bytes; at += ENTRY_BYTES) {
            U.putLong(tree + from + at, 0);
        }
        for (int at = 0; at <= mask; at += ENTRY_BYTES) {
            long entry = U.getLong(tree + (int) table + at);
            if (entry != 0) put(tree, larger, entry);
        }
        return larger;
    }

    private static void put(long tree, long table, long entry) {
        int mask = (int) (table >>> 32);
        int at = hash(~(int) entry) & mask;
        while (U.getLong(tree + (int) table + at) != 0) at = at + ENTRY_BYTES & mask;
        U.putLong(tree + (int) table + at, entry);
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
        while (of != ROOT && place(tree, of) != place) of = parent(tree, of);
        if (of == ROOT) {
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
        int next = childOrNew(tid, tree, root, place | LEFT);
        U.putInt(tree + CURRENT, next == 0 ? NOWHERE : next);
        // Where there is no room for that, nobody knows from now on what is around what comes.
        if (next == 0) U.putInt(tree + BEYOND, EVER);
    }
}
