/*
 * incident: The only consumer of a ring buffer writes each tick by itself, slower than they come: who publishes waits for room.
 * names: full-queue TickJournal.publish|TickJournal.store
 * jars: libdisruptor-java/disruptor
 */
package libraries;

import com.lmax.disruptor.BlockingWaitStrategy;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.dsl.Disruptor;
import com.lmax.disruptor.dsl.ProducerType;
import incidents.Incident;
import java.util.concurrent.ThreadFactory;

public final class TickJournal {
    static final class Tick {
        private long value;
    }

    private static long stored;

    private static void store(Tick tick) {
        stored += tick.value;
        Incident.sleep(3);
    }

    private static void publish(RingBuffer<Tick> ring) {
        for (long value = 0;; value++) {
            long number = ring.next();
            ring.get(number).value = value;
            ring.publish(number);
        }
    }

    public static void main(String[] args) {
        ThreadFactory threads = task -> new Thread(task, "journal");
        Disruptor<Tick> disruptor =
            new Disruptor<>(Tick::new, 1024, threads, ProducerType.MULTI, new BlockingWaitStrategy());
        disruptor.handleEventsWith((tick, number, isLast) -> store(tick));
        RingBuffer<Tick> ring = disruptor.start();
        for (int i = 0; i < 4; i++) {
            Incident.start("feed-" + i, () -> publish(ring));
        }
        Incident.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
