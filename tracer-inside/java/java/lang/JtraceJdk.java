package java.lang;

import java.lang.ref.Reference;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/** What JDK 8 does not have: there another class of this name is defined ({@code java8}). */
final class JtraceJdk {
    private static final Unsafe U = Unsafe.getUnsafe();

    private JtraceJdk() {}

    /** Where a field lies. */
    static long offset(Class<?> of, String field) {
        return U.objectFieldOffset(of, field);
    }

    /** Whether references can be asked without keeping their objects alive (since 16). */
    static boolean canAsk() {
        return Runtime.version().feature() >= 16;
    }

    /** The object is alive until here. */
    @ForceInline
    static void keep(Object object) {
        Reference.reachabilityFence(object);
    }
}
