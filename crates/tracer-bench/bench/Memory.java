package jtrace.bench;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;

/** What the JVM says of its memory between two points of time. */
final class Memory {
    private static final com.sun.management.ThreadMXBean THREADS =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final long collections = collections();
    private final long collectionMillis = collectionMillis();
    private final long allocated;
    private final long ended;
    private final long promoted = Promotion.bytes();

    /** From now on. */
    Memory() {
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            pool.resetPeakUsage();
        }
        ended = ended();
        allocated = allocated();
    }

    /** Until now, as words of the line protocol. The peak is the sum of the peaks of all pools of the heap. */
    String words() {
        StringBuilder words = new StringBuilder();
        word(words, "collections", collections() - collections);
        word(words, "collection_ns", (collectionMillis() - collectionMillis) * 1_000_000);
        word(words, "peak_heap_bytes", peak());
        long now = allocated();
        // A thread that has ended takes its number with it, unless the JVM keeps a total: then there is no number to give.
        if (now >= 0 && (TOTAL != null || ended() == ended)) {
            word(words, "allocated_bytes", now - allocated);
        }
        long promotedNow = Promotion.bytes();
        if (promoted >= 0 && promotedNow >= 0) {
            word(words, "promoted_bytes", promotedNow - promoted);
        }
        return words.toString();
    }

    private static void word(StringBuilder words, String name, long value) {
        words.append(" memory.").append(name).append('=').append(value);
    }

    /** Collectors that report pauses beside cycles would be counted twice. */
    private static boolean isCounted(GarbageCollectorMXBean collector) {
        return !collector.getName().endsWith(" Pauses");
    }

    private static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().filter(Memory::isCounted)
            .mapToLong(GarbageCollectorMXBean::getCollectionCount).filter(count -> count > 0).sum();
    }

    private static long collectionMillis() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream().filter(Memory::isCounted)
            .mapToLong(GarbageCollectorMXBean::getCollectionTime).filter(millis -> millis > 0).sum();
    }

    private static long peak() {
        return ManagementFactory.getMemoryPoolMXBeans().stream().filter(pool -> pool.getType() == MemoryType.HEAP)
            .mapToLong(pool -> pool.getPeakUsage().getUsed()).sum();
    }

    private static long ended() {
        return THREADS.getTotalStartedThreadCount() - THREADS.getThreadCount();
    }

    /** Of all threads, where the JVM keeps a total (JDK 21); else of those that live. Negative where it does not count. */
    private static long allocated() {
        if (!THREADS.isThreadAllocatedMemorySupported() || !THREADS.isThreadAllocatedMemoryEnabled()) {
            return -1;
        }
        if (TOTAL != null) {
            try {
                return (Long) TOTAL.invoke(THREADS);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
        long sum = 0;
        for (long bytes : THREADS.getThreadAllocatedBytes(THREADS.getAllThreadIds())) {
            sum += Math.max(bytes, 0);
        }
        return sum;
    }

    private static final java.lang.reflect.Method TOTAL = total();

    private static java.lang.reflect.Method total() {
        try {
            return com.sun.management.ThreadMXBean.class.getMethod("getTotalThreadAllocatedBytes");
        } catch (NoSuchMethodException e) {
            return null;
        }
    }
}
