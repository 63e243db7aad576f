import java.util.concurrent.locks.LockSupport;

/**
 * Hits the probes. In each method the note and the probe stand on one line, so that the two stacks are the same from this
 * method outwards, this method's line included; further inwards are frames of the JDK, and the bytecode index differs.
 */
final class Probe {
    /** The class of the monitors that are fought for, so that events of others can be told apart. */
    static final class Gate {}

    private static int idle;

    private Probe() {}

    /** What every shape calls innermost: nothing while the worker warms up, else one event. */
    static void hit(Worker worker) throws Exception {
        if (!worker.armed) {
            idle++;
            return;
        }
        worker.armed = false;
        worker.made++;
        switch (worker.kind) {
            case PARK: park(worker, worker.made); break;
            case SLEEP: sleep(worker, worker.made % 100 == 0 ? 1 : 0); break;
            case ENTER: worker.partner.hold(); enter(worker, worker.partner.gate); break;
            case LOAD: load(worker, worker.label + "Made" + worker.made); break;
            default: start(worker); break;
        }
    }

    private static void park(Worker worker, int nanos) {
        worker.notes.take(Kind.PARK, worker.shape, Integer.toString(nanos)); LockSupport.parkNanos(nanos);
    }

    private static void sleep(Worker worker, int millis) throws InterruptedException {
        worker.notes.take(Kind.SLEEP, worker.shape, "-"); Thread.sleep(millis);
    }

    /**
     * The interpreter goes on to the next instruction before it enters a monitor, so that HotSpot's own stacks, too, are at
     * the one behind: it is on the same line.
     */
    private static void enter(Worker worker, Gate gate) {
        worker.notes.take(Kind.ENTER, worker.shape, "-"); worker.partner.release(); synchronized (gate) { idle++; }
    }

    private static void load(Worker worker, String name) {
        byte[] code = Generated.empty(name);
        worker.notes.take(Kind.LOAD, worker.shape, name); worker.loader.define(name, code);
    }

    /** The new thread hits the probe before it has a Java frame. */
    private static void start(Worker worker) throws InterruptedException {
        Thread thread = new Thread(Probe::nothing, "oracle-started");
        worker.notes.takeEmpty(Kind.START, worker.shape, Long.toString(thread.getId()));
        thread.start();
        thread.join();
    }

    private static void nothing() {}
}
