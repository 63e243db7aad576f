/*
 * incident: Virtual threads load classes through a slow remote repository, and a class that is being loaded pins them to their carriers.
 * names: pinned TenantClasses
 * needs: 21
 * jfr: jdk.VirtualThreadPinned TenantClasses
 */
package virtual;

import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;

public final class TenantClasses {
    public static final class Plan implements IntSupplier {
        @Override
        public int getAsInt() {
            return 12;
        }
    }

    /** Fetches classes of one tenant. */
    static final class Repository extends ClassLoader {
        Repository() {
            super(TenantClasses.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return name.equals(Plan.class.getName()) ? define(name, download(name)) : super.loadClass(name, resolve);
        }

        private Class<?> define(String name, byte[] code) {
            return defineClass(name, code, 0, code.length);
        }

        private byte[] download(String name) {
            try (InputStream in = TenantClasses.class.getResourceAsStream("TenantClasses$Plan.class")) {
                Thread.sleep(300);
                return in.readAllBytes();
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(name, e);
            }
        }
    }

    private static int bill(int days) {
        try {
            Class<?> plan = Class.forName(Plan.class.getName(), true, new Repository());
            return days * ((IntSupplier) plan.getDeclaredConstructor().newInstance()).getAsInt();
        } catch (ReflectiveOperationException e) {
            return 0;
        }
    }

    private static void billForEver(int tenant) {
        while (true) {
            bill(tenant);
            LockSupport.parkNanos(10_000_000);
        }
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 20; i++) {
            int tenant = i;
            Incident.virtual(() -> billForEver(tenant));
        }
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(System::nanoTime, 1, 1, TimeUnit.SECONDS);
        Thread.sleep(1000);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
