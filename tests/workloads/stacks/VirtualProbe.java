import java.util.concurrent.locks.LockSupport;

/** As {@link Probe}, for virtual threads. */
final class VirtualProbe {
    private VirtualProbe() {}

    /** Within a class initialiser, whose native frame keeps the thread on its carrier: so it is the carrier that parks. */
    static void park(Notes notes, String shape, Generated loader, String name) throws Exception {
        loader.define(name, Generated.withInitializer(name));
        Upcall.CALLBACK.set(() -> {
            notes.takeVirtual(Kind.PARK, shape, "-"); LockSupport.parkNanos(50_000);
        });
        Class.forName(name, true, loader);
        Upcall.CALLBACK.remove();
    }

    static void load(Notes notes, String shape, Generated loader, String name) {
        byte[] code = Generated.empty(name);
        notes.takeVirtual(Kind.LOAD, shape, name); loader.define(name, code);
    }
}
