import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandle;
import java.lang.reflect.Array;
import java.lang.reflect.Method;

/**
 * Replaces itself by /bin/cat, within the same process, when GO comes. It calls execv through java.lang.foreign by
 * reflection, because workloads are compiled for Java 11; it runs on 22 and later with --enable-native-access=ALL-UNNAMED.
 */
public final class Exec {
    public static void main(String[] args) throws Throwable {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Class<?> segment = Class.forName("java.lang.foreign.MemorySegment");
        Class<?> layout = Class.forName("java.lang.foreign.ValueLayout");
        Class<?> address = Class.forName("java.lang.foreign.AddressLayout");
        Object pointer = layout.getField("ADDRESS").get(null);
        Object arena = Class.forName("java.lang.foreign.Arena").getMethod("global").invoke(null);
        Class<?> allocator = Class.forName("java.lang.foreign.SegmentAllocator");
        Object path = allocator.getMethod("allocateFrom", String.class).invoke(arena, "/bin/cat");
        Object argv = allocator.getMethod("allocate", long.class, long.class).invoke(arena, 16L, 8L);
        segment.getMethod("set", address, long.class, segment).invoke(argv, pointer, 0L, path);
        MethodHandle execv = execv(pointer, layout.getField("JAVA_INT").get(null));
        System.out.println("READY");
        in.readLine();
        execv.invokeWithArguments(path, argv);
    }

    private static MethodHandle execv(Object pointer, Object integer) throws Exception {
        Class<?> linkerType = Class.forName("java.lang.foreign.Linker");
        Class<?> descriptorType = Class.forName("java.lang.foreign.FunctionDescriptor");
        Class<?> layoutType = Class.forName("java.lang.foreign.MemoryLayout");
        Class<?> optionType = Class.forName("java.lang.foreign.Linker$Option");
        Object linker = linkerType.getMethod("nativeLinker").invoke(null);
        Object lookup = linkerType.getMethod("defaultLookup").invoke(linker);
        Object symbol = Class.forName("java.lang.foreign.SymbolLookup").getMethod("findOrThrow", String.class)
            .invoke(lookup, "execv");
        Object parameters = Array.newInstance(layoutType, 2);
        Array.set(parameters, 0, pointer);
        Array.set(parameters, 1, pointer);
        Object descriptor = descriptorType.getMethod("of", layoutType, parameters.getClass())
            .invoke(null, integer, parameters);
        Object options = Array.newInstance(optionType, 0);
        Method downcall = linkerType.getMethod("downcallHandle", Class.forName("java.lang.foreign.MemorySegment"),
            descriptorType, options.getClass());
        return (MethodHandle) downcall.invoke(linker, symbol, descriptor, options);
    }
}
