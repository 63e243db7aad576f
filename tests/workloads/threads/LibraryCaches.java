import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Paths;
import java.util.Scanner;

/** Caches of libraries, whose files are the arguments: each work puts a number of entries of its own into each. */
public class LibraryCaches {
    static Object bounded;
    static Object unbounded;
    static Object guava;
    static int next;

    static Object made(ClassLoader libraries, String builder, long most) throws ReflectiveOperationException {
        Class<?> type = libraries.loadClass(builder);
        Object made = type.getMethod("newBuilder").invoke(null);
        if (most > 0) {
            made = type.getMethod("maximumSize", long.class).invoke(made, most);
        }
        return type.getMethod("build").invoke(made);
    }

    static void put(ClassLoader libraries, String type, Object cache, int entries) throws ReflectiveOperationException {
        Method put = libraries.loadClass(type).getMethod("put", Object.class, Object.class);
        for (int i = 0; i < entries; i++) {
            put.invoke(cache, next++, "");
        }
    }

    public static void main(String[] files) throws Exception {
        URL[] urls = new URL[files.length];
        for (int i = 0; i < files.length; i++) {
            urls[i] = Paths.get(files[i]).toUri().toURL();
        }
        ClassLoader libraries = new URLClassLoader(urls);
        bounded = made(libraries, "com.github.benmanes.caffeine.cache.Caffeine", 100_000);
        unbounded = made(libraries, "com.github.benmanes.caffeine.cache.Caffeine", 0);
        guava = made(libraries, "com.google.common.cache.CacheBuilder", 0);
        System.out.println("READY");
        Scanner in = new Scanner(System.in);
        for (int works = 1; in.hasNextLine(); works++) {
            in.nextLine();
            put(libraries, "com.github.benmanes.caffeine.cache.Cache", bounded, 100);
            put(libraries, "com.github.benmanes.caffeine.cache.Cache", unbounded, 101);
            put(libraries, "com.google.common.cache.Cache", guava, 102);
            System.gc();
            System.out.println("DONE LibraryCaches.bounded=" + 100 * works + " LibraryCaches.unbounded=" + 101 * works
                + " LibraryCaches.guava=" + 102 * works);
        }
    }
}
