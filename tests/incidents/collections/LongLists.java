/*
 * incident: Millions of linked nodes stay alive and are slowly replaced, so that each collection of the old generation takes very long.
 * names: gc-long-pause|gc-full|gc-share|heap-nearly-full LongLists
 * flags: -XX:+UseSerialGC -Xms640m -Xmx640m
 * load: cpu
 * jfr: jdk.GarbageCollection SerialOld
 */
import incidents.Incident;

public final class LongLists {
    static final class Event {
        private final long at;
        private final Object detail;
        private Event next;

        Event(long at, Object detail) {
            this.at = at;
            this.detail = detail;
        }
    }

    /** The events of the last hours, oldest first. */
    static final class History {
        private Event first = new Event(0, null);
        private Event last = first;
        private int size = 1;

        void add(Event event) {
            last.next = event;
            last = event;
            size++;
        }

        void trim(int limit) {
            while (size > limit) {
                first = first.next;
                size--;
            }
        }

        long span() {
            return last.at - first.at;
        }
    }

    private static void record(History history) {
        for (long at = 0; history.span() >= 0; at++) {
            history.add(new Event(at, new int[2]));
            history.trim(7_000_000);
        }
    }

    public static void main(String[] args) throws Exception {
        History history = new History();
        new Thread(() -> record(history), "recorder").start();
        while (history.size < 6_900_000) {
            Thread.sleep(100);
        }
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
