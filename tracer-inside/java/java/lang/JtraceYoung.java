package java.lang;

import jdk.internal.misc.Unsafe;

/**
 * Objects since the last collection that was noticed, in the order of their births. They are entered into an index some at a time:
 * each lies elsewhere in that, and so the memory's answers are waited for together. Readers take no lock.
 */
final class JtraceYoung {
    private static final Unsafe U = Unsafe.getUnsafe();
    /** Those that are entered into the index at the same time. */
    private static final int TOGETHER = 32;

    final JtraceKnown[] known;
    final int[] hashes;
    /** Places and 1, by their hashes. */
    final int[] index;
    int count;
    /** Those before are in the index. */
    int indexed;

    JtraceYoung(int length) {
        known = new JtraceKnown[length];
        hashes = new int[length];
        index = new int[2 * length];
    }

    JtraceKnown find(int hash, Object object) {
        for (int at = indexed; at < count; at++) {
            JtraceKnown one = at(at, hash, object);
            if (one != null) return one;
        }
        U.loadFence();
        int mask = index.length - 1;
        for (int at = hash & mask; index[at] != 0; at = at + 1 & mask) {
            int place = index[at] - 1;
            JtraceKnown one = place < 0 ? null : at(place, hash, object);
            if (one != null) return one;
        }
        return null;
    }

    /** What lies at a place, if it is the object's. It is read once: a moment later another object may be there. */
    private JtraceKnown at(int at, int hash, Object object) {
        if (hashes[at] != hash) return null;
        JtraceKnown one = known[at];
        return one != null && one.get() == object ? one : null;
    }

    void add(JtraceKnown one) {
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
    JtraceYoung larger() {
        JtraceYoung larger = new JtraceYoung(2 * known.length);
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
