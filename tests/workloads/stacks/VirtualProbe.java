/** As {@link Probe}, for virtual threads. */
final class VirtualProbe {
    private static int entered;

    private VirtualProbe() {}

    static void load(Virtual own, String name) {
        byte[] code = Generated.empty(name);
        own.notes.takeVirtual(Kind.LOAD, own.shape, name); own.loader.define(name, code);
    }

    static void enter(Virtual own, Partner partner) {
        Probe.Gate gate = partner.gate;
        own.notes.takeVirtual(Kind.ENTER, own.shape, "-"); partner.release(); synchronized (gate) { entered++; }
    }
}
