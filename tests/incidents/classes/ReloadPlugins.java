/*
 * incident: Plug-ins are loaded anew each 50 ms to notice changes: a loader with 40 classes each time, dropped at once.
 * names: class-storm|class-leak ReloadPlugins
 * load: cpu
 * flags: -Xmx96m
 * jfr: jdk.ClassLoaderStatistics PluginLoader
 */
import incidents.Incident;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

public final class ReloadPlugins {
    private static final String TEMPLATE = "ReloadPlugins$Part00";

    public static final class Part00 implements Supplier<String> {
        @Override
        public String get() {
            return "part";
        }
    }

    /** Has one class under forty names, like a plug-in of forty small classes. */
    static final class PluginLoader extends ClassLoader {
        private final String code;

        PluginLoader(String code) {
            super(ReloadPlugins.class.getClassLoader());
            this.code = code;
        }

        @Override
        protected Class<?> findClass(String name) {
            byte[] bytes = code.replace(TEMPLATE, name).getBytes(StandardCharsets.ISO_8859_1);
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    private static String read() throws IOException {
        try (InputStream in = ReloadPlugins.class.getResourceAsStream(TEMPLATE + ".class")) {
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private static int reload(String code) throws ReflectiveOperationException {
        PluginLoader loader = new PluginLoader(code);
        int parts = 0;
        for (int i = 10; i < 50; i++) {
            Object part = loader.loadClass("ReloadPlugins$Part" + i).getConstructor().newInstance();
            parts += ((Supplier<?>) part).get() == null ? 0 : 1;
        }
        return parts;
    }

    private static void watch(String code) {
        try {
            while (reload(code) == 40) {
                Thread.sleep(50);
            }
        } catch (ReflectiveOperationException e) {
            System.err.println("cannot load: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        String code = read();
        new Thread(() -> watch(code), "plugin-watch").start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
