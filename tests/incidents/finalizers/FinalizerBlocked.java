/*
 * incident: A finalizer waits for the lock of the spool, which the archiver holds while it sleeps: nothing is finalized any more.
 * names: slow-finalizer|lock-contention|lock-chain FinalizerBlocked
 * flags: -Xmx128m -Xmn4m
 * jfr: jdk.FinalizerStatistics Job
 */
import incidents.Incident;
import java.util.ArrayList;
import java.util.List;

public final class FinalizerBlocked {
    /** Where printed jobs are noted. */
    static final class Spool {
        private final List<Integer> finished = new ArrayList<>();

        synchronized void note(int job) {
            finished.add(job);
        }

        synchronized void archive() throws InterruptedException {
            finished.clear();
            Thread.sleep(140_000);
        }
    }

    static final class Job {
        private final Spool spool;
        private final int number;
        private final byte[] page = new byte[4000];

        Job(Spool spool, int number) {
            this.spool = spool;
            this.number = number;
        }

        int print() {
            return page[number % page.length] + 1;
        }

        @Override
        protected void finalize() {
            spool.note(number);
        }
    }

    private static void printAll(Spool spool) {
        try {
            for (int number = 0, printed = 0; printed >= 0; number++) {
                printed += new Job(spool, number).print();
                byte[] raster = new byte[40_000];
                printed += raster[number % raster.length];
                Thread.sleep(10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void archiveAll(Spool spool) {
        try {
            while (true) {
                spool.archive();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        Spool spool = new Spool();
        new Thread(() -> archiveAll(spool), "archiver").start();
        new Thread(() -> printAll(spool), "printer").start();
        Thread.sleep(3000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
