/*
 * incident: A template was compiled into one method of more than 8,000 bytes, which the JVM never compiles: the page is interpreted.
 * names: not-compiled|cpu-hot-method|cpu-hot-line InvoicePage.render
 * load: cpu
 * jfr: jdk.ExecutionSample InvoicePage.render
 */
package code;

import incidents.Incident;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public final class HugePage {
    /** Makes a class of a template, as engines for pages do: all of it in one method. */
    private static final class Template {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final DataOutputStream out = new DataOutputStream(bytes);

        private void header() throws IOException {
            out.writeInt(0xcafebabe);
            out.writeInt(50);
            out.writeShort(10);
            for (String name : List.of("code/InvoicePage", "java/lang/Object")) {
                out.writeByte(1);
                out.writeUTF(name);
                out.writeByte(7);
                out.writeShort(name.startsWith("code") ? 1 : 3);
            }
            for (String name : List.of("render", "(J)J", "Code")) {
                out.writeByte(1);
                out.writeUTF(name);
            }
            out.writeByte(5);
            out.writeLong(0x9e3779b97f4a7c15L);
        }

        /** cells = cells * constant ^ cells >>> 13. */
        private static byte[] line() {
            return new byte[] {0x1e, 0x14, 0, 8, 0x69, 0x1e, 0x10, 13, 0x7d, (byte) 0x83, 0x3f};
        }

        byte[] compile(int lines) throws IOException {
            header();
            for (int value : new int[] {0x21, 2, 4, 0, 0, 1, 9, 5, 6, 1, 7}) {
                out.writeShort(value);
            }
            int length = lines * line().length + 2;
            out.writeInt(12 + length);
            out.writeShort(6);
            out.writeShort(2);
            out.writeInt(length);
            for (int i = 0; i < lines; i++) {
                out.write(line());
            }
            out.write(new byte[] {0x1e, (byte) 0xad, 0, 0, 0, 0, 0, 0});
            return bytes.toByteArray();
        }
    }

    private static long serve(MethodHandle page) {
        try {
            long checksum = 0;
            for (long order = 1; order > 0; order++) {
                checksum ^= (long) page.invokeExact(order);
            }
            return checksum;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        Class<?> page = lookup.defineClass(new Template().compile(1200));
        MethodHandle render = lookup.findStatic(page, "render", MethodType.methodType(long.class, long.class));
        Thread web = new Thread(() -> serve(render), "web");
        web.setDaemon(true);
        web.start();
        Executors.newScheduledThreadPool(1).scheduleAtFixedRate(System::nanoTime, 1, 1, TimeUnit.SECONDS);
        Thread.sleep(1500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
