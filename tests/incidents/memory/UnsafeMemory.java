/*
 * incident: Columns are put into memory outside of the heap by Unsafe.allocateMemory, and never freed.
 * names: memory-growth UnsafeMemory
 * flags: -Xmx64m
 * jfr: none
 */
import incidents.Incident;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

public final class UnsafeMemory {
    /** What Java 11's own API does not have. */
    static final class Native {
        private final Object unsafe;
        private final Method allocate;
        private final Method fill;

        Native() throws ReflectiveOperationException {
            Class<?> type = Class.forName("sun.misc.Unsafe");
            Field field = type.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            unsafe = field.get(null);
            allocate = type.getMethod("allocateMemory", long.class);
            fill = type.getMethod("setMemory", long.class, long.class, byte.class);
        }

        long zeroed(long size) throws ReflectiveOperationException {
            long address = (long) allocate.invoke(unsafe, size);
            fill.invoke(unsafe, address, size, (byte) 0);
            return address;
        }
    }

    private final Native memory = new Native();
    private long columns;

    UnsafeMemory() throws ReflectiveOperationException {}

    private void addColumn(int rows) throws ReflectiveOperationException {
        if (memory.zeroed(8L * rows) != 0) {
            columns++;
        }
    }

    private void load() {
        try {
            while (columns >= 0) {
                addColumn(40_000);
                Thread.sleep(100);
            }
        } catch (ReflectiveOperationException e) {
            System.err.println("no memory: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        new Thread(new UnsafeMemory()::load, "loader").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
