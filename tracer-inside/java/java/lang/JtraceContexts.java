package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.ForceInline;

/**
 * Calls that are counted by what is around them: a tree of calling contexts for each thread, which only that thread writes. A node stands
 * for a place with the places under way around it. Entering a region goes to a child and counts there, leaving it goes to the parent:
 * no event leaves the JVM for either.
 *
 * <p>The tree lies outside of the heap ({@code tracer-inside/src/memory/contexts.rs}): a header, nodes of 32 bytes, and an index of them by
 * parent and place. It grows while there is room; what finds none is counted at its place alone.
 */
final class JtraceContexts {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** The header: the node at which the thread is, nodes so far, and how many there is room for. */
    private static final int CURRENT = 0;
    private static final int USED = 4;
    private static final int CAPACITY = 8;
    /** Regions under way that found no room, and the node that is around the outermost of them. */
    private static final int BEYOND = 12;
    private static final int BACK_TO = 16;
    /** Not 0 where there will be no more room. */
    private static final int IS_FULL = 20;
    /** Numbers the visits, and what comes between their pauses: what is kept in code is good for one of them. */
    private static final int EPOCH = 24;
    private static final int HEADER_BYTES = 64;

    /** A node: its place, its parent, the child that was entered last, and what was counted. */
    private static final int PLACE = 0;
    private static final int PARENT = 4;
    private static final int RECENT = 8;
    private static final int CALLS = 16;
    private static final int ERRORS = 24;
    private static final int NODE_SHIFT = 5;

    /**
     * Node 0 is around the outermost regions. A thread is at node 1 while it is beyond the room: it has no place, and no children. Node 2
     * is the root of what is counted after a pause.
     */
    private static final int ROOT = 0;
    private static final int NOWHERE = 1;
    /**
     * The sign of a place whose region was under way when counting began, and has ended: what comes now is around that. Such a node is
     * the root from then on.
     */
    private static final int LEFT = 1 << 31;
    /** More regions than end in a session. */
    private static final int EVER = 1 << 30;

    private JtraceContexts() {}

    private static long node(long tree, int number) {
        return tree + HEADER_BYTES + ((long) number << NODE_SHIFT);
    }

    /**
     * A region is entered whose code keeps what is around it until it is left. Gives that, which is negative; 0 where there is no tree, and
     * it is counted at the place.
     */
    @DontInline
    static long entered(int slot, long counters, int place) {
        long tree = JtraceMarks.contexts(slot);
        if (tree == 0) return 0;
        int current = U.getInt(tree + CURRENT);
        int child = child(slot, tree, current, place);
        tree = JtraceMarks.contexts(slot);
        if (child == 0) {
            JtraceMarks.count(counters, place, JtraceMarks.ENTERED);
            if (current != NOWHERE) beyond(tree, current);
        } else {
            count(tree, child);
            U.putInt(tree + CURRENT, child);
        }
        return ~((long) U.getInt(tree + EPOCH) << 32 | current);
    }

    /** The end of such a region, by an exception or not: whatever began within it has ended, too. */
    static void left(int slot, long counters, int place, long kept, boolean thrown) {
        long tree = JtraceMarks.contexts(slot);
        // What is kept from before a pause, or for an earlier visit, is of no tree that there is.
        if (tree == 0 || (int) (~kept >>> 32) != U.getInt(tree + EPOCH)) return;
        int around = (int) ~kept;
        if (thrown) {
            int of = U.getInt(tree + CURRENT);
            while (of > NOWHERE && U.getInt(node(tree, of) + PARENT) != around) of = U.getInt(node(tree, of) + PARENT);
            long errors = node(tree, of) + ERRORS;
            if (of > NOWHERE) U.putLong(errors, U.getLong(errors) + 1);
            else JtraceMarks.count(counters, place, JtraceMarks.THREW);
        }
        U.putInt(tree + CURRENT, around);
    }

    /** A region was entered and left, within which there is none; says whether it was counted. */
    @DontInline
    static boolean passed(int slot, int place) {
        long tree = JtraceMarks.contexts(slot);
        if (tree == 0) return false;
        int child = child(slot, tree, U.getInt(tree + CURRENT), place);
        if (child == 0) return false;
        count(JtraceMarks.contexts(slot), child);
        return true;
    }

    /** A region is entered; says whether that was counted, and not to be counted at the place. */
    @DontInline
    static boolean enter(int slot, int place) {
        long tree = JtraceMarks.contexts(slot);
        if (tree == 0) return false;
        int current = U.getInt(tree + CURRENT);
        int child = child(slot, tree, current, place);
        if (child == 0) {
            beyond(JtraceMarks.contexts(slot), current);
            return false;
        }
        tree = JtraceMarks.contexts(slot);
        count(tree, child);
        U.putInt(tree + CURRENT, child);
        return true;
    }

    @ForceInline
    private static void count(long tree, int node) {
        long calls = node(tree, node) + CALLS;
        U.putLong(calls, U.getLong(calls) + 1);
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

    /** The child of a node for a place, which is made where there is none; 0 where there is no room. The tree may be another one then. */
    @ForceInline
    private static int child(int slot, long tree, int current, int place) {
        int child = U.getInt(node(tree, current) + RECENT);
        return child != 0 && U.getInt(node(tree, child) + PLACE) == place ? child : find(slot, tree, current, place);
    }

    @DontInline
    private static int find(int slot, long tree, int current, int place) {
        if (current == NOWHERE) return 0;
        int child = known(tree, current, place);
        if (child == 0) {
            boolean isFull = U.getInt(tree + USED) == U.getInt(tree + CAPACITY);
            // Memory moves where it grows.
            if (isFull && U.getInt(tree + IS_FULL) == 0) tree = JtraceMarks.grow(slot);
            child = make(tree, current, place);
        }
        if (child != 0) U.putInt(node(tree, current) + RECENT, child);
        return child;
    }

    /** The index: numbers of nodes, twice as many as there is room for. */
    private static long index(long tree) {
        return node(tree, U.getInt(tree + CAPACITY));
    }

    private static int hash(int parent, int place) {
        return (parent * 31 + place) * 0x9e3779b1 >>> 8;
    }

    private static int known(long tree, int parent, int place) {
        long index = index(tree);
        int mask = 2 * U.getInt(tree + CAPACITY) - 1;
        for (int at = hash(parent, place) & mask; ; at = at + 1 & mask) {
            int number = U.getInt(index + ((long) at << 2));
            if (number == 0) return 0;
            long node = node(tree, number);
            if (U.getInt(node + PLACE) == place && U.getInt(node + PARENT) == parent) return number;
        }
    }

    private static int make(long tree, int parent, int place) {
        int number = U.getInt(tree + USED);
        int capacity = U.getInt(tree + CAPACITY);
        if (number >= capacity) return 0;
        long node = node(tree, number);
        U.putInt(node + PLACE, place);
        U.putInt(node + PARENT, parent);
        // Who reads the tree finds nodes whole.
        U.putIntRelease(null, tree + USED, number + 1);
        long index = index(tree);
        int mask = 2 * capacity - 1;
        int at = hash(parent, place) & mask;
        while (U.getInt(index + ((long) at << 2)) != 0) at = at + 1 & mask;
        U.putInt(index + ((long) at << 2), number);
        return number;
    }

    /** A region is left, by an exception or not; says whether nothing is to be counted at the place. */
    @DontInline
    static boolean leave(int slot, int place, boolean thrown) {
        long tree = JtraceMarks.contexts(slot);
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
        while (of != ROOT && U.getInt(node(tree, of) + PLACE) != place) of = U.getInt(node(tree, of) + PARENT);
        if (of == ROOT) {
            begunBefore(slot, tree, place);
            return !thrown;
        }
        long node = node(tree, of);
        if (thrown) U.putLong(node + ERRORS, U.getLong(node + ERRORS) + 1);
        U.putInt(tree + CURRENT, U.getInt(node + PARENT));
        return true;
    }

    /** The end of a region that began before anything was counted. */
    private static void begunBefore(int slot, long tree, int place) {
        int root = U.getInt(tree + CURRENT);
        while (root > NOWHERE && U.getInt(node(tree, root) + PLACE) >= 0) root = U.getInt(node(tree, root) + PARENT);
        int next = find(slot, tree, root, place | LEFT);
        tree = JtraceMarks.contexts(slot);
        U.putInt(tree + CURRENT, next == 0 ? NOWHERE : next);
        // Where there is no room for that, nobody knows from now on what is around what comes.
        if (next == 0) U.putInt(tree + BEYOND, EVER);
    }
}
