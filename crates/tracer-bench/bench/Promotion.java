package jtrace.bench;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.Optional;
import java.util.Set;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;

/**
 * By how much minor collections made the old generation grow, as the JVM notifies of each. Collectors without an old
 * generation have no such number.
 */
final class Promotion {
    /** How long notifications of collections that are over may be under way. */
    private static final long PATIENCE_NANOS = 2_000_000_000L;

    private static final Optional<String> OLD = ManagementFactory.getMemoryPoolMXBeans().stream()
        .map(MemoryPoolMXBean::getName).filter(name -> name.endsWith("Old Gen") || name.equals("Tenured Gen")).findFirst();

    /** Collectors of the young generation. */
    private static final Set<String> MINOR = Set.of("G1 Young Generation", "PS Scavenge", "Copy", "ParNew");

    private static final Promotion ONLY = new Promotion();

    /** Minor collections before anybody listened. One that falls into the beginning itself makes all numbers absent. */
    private final long unheard = collections();
    private long heard;
    private long bytes;

    private Promotion() {
        if (OLD.isPresent()) {
            for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
                ((NotificationEmitter) collector).addNotificationListener((notification, none) -> hear(notification), null, null);
            }
        }
    }

    private synchronized void hear(Notification notification) {
        if (!notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
            return;
        }
        GarbageCollectionNotificationInfo told = GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
        if (told.getGcAction().equals("end of minor GC")) {
            GcInfo info = told.getGcInfo();
            long before = info.getMemoryUsageBeforeGc().get(OLD.get()).getUsed();
            long after = info.getMemoryUsageAfterGc().get(OLD.get()).getUsed();
            // A mixed collection also takes from the old generation; then what moved into it is not known, and counts as nothing.
            bytes += Math.max(0, after - before);
            heard++;
        }
        notifyAll();
    }

    /** Bytes so far, once all minor collections so far were heard of; negative where that cannot be known. */
    static long bytes() {
        return OLD.isPresent() ? ONLY.await(collections() - ONLY.unheard) : -1;
    }

    private static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .filter(collector -> MINOR.contains(collector.getName())).mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
    }

    private synchronized long await(long collections) {
        long end = System.nanoTime() + PATIENCE_NANOS;
        try {
            for (long left = PATIENCE_NANOS; heard < collections && left > 0; left = end - System.nanoTime()) {
                wait(Math.max(1, left / 1_000_000));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return heard == collections ? bytes : -1;
    }
}
