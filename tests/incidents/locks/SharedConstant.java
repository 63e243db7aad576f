/*
 * incident: Two components that know nothing of each other lock the same interned string, so that orders wait for the nightly archive.
 * names: lock-contention|lock-chain Archive.store
 * jfr: jdk.JavaMonitorEnter Orders.place
 */
package locks;

import incidents.Incident;

public final class SharedConstant {
    static final class Archive {
        private static final String LOCK = "LOCK";
        private long stored;

        void store() {
            synchronized (LOCK) {
                stored++;
                Incident.sleep(40);
            }
            Incident.sleep(1);
        }
    }

    static final class Orders {
        private static final String LOCK = "LOCK";
        private int placed;

        void place() {
            synchronized (LOCK) {
                placed++;
            }
            Incident.sleep(2);
        }
    }

    public static void main(String[] args) throws Exception {
        Archive archive = new Archive();
        Orders orders = new Orders();
        Incident.start("archive", () -> {
            while (true) {
                archive.store();
            }
        });
        for (int i = 0; i < 4; i++) {
            Incident.start("orders-" + i, () -> {
                while (true) {
                    orders.place();
                }
            });
        }
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
