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
        JtraceKnown one = known[at];
        return one != null && one.get() == object;
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
