/*
 * incident: Two movers of containers try both cranes, let go when one is taken, and try again at once.
 * names: spinning|cpu-hot-line|cpu-hot-method Mover.|Crane.
 * load: cpu
 * jfr: jdk.ExecutionSample Mover
 */
package harbour.cranes;

import incidents.Incident;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

public final class Livelock {
    static final class Crane {
        final Lock lock = new ReentrantLock();
    }

    static final class Mover implements Runnable {
        private final Crane mine;
        private final Crane other;
        private long moved;

        Mover(Crane mine, Crane other) {
            this.mine = mine;
            this.other = other;
        }

        private boolean tryToMove() {
            if (!mine.lock.tryLock()) {
                return false;
            }
            try {
                if (!other.lock.tryLock()) {
                    return false;
                }
                try {
                    moved++;
                    return true;
                } finally {
                    other.lock.unlock();
                }
            } finally {
                mine.lock.unlock();
            }
        }

        @Override
        public void run() {
            while (moved >= 0) {
                tryToMove();
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Crane north = new Crane();
        Crane south = new Crane();
        Incident.start("mover-1", new Mover(north, south));
        Incident.start("mover-2", new Mover(south, north));
        Thread.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
