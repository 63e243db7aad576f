/** Compiled code that meets what it was not compiled for: other types, null, cold branches. It is thrown away again and again. */
final class Trap {
    private static int sink;
    private static int rare;

    private Trap() {}

    static void make(Worker worker, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            for (int warm = 0; warm < 400; warm++) {
                sink += cast(worker, "text", false) + branch(worker, 1) + nothing(worker, "x");
            }
            worker.armed = true;
            switch (worker.made % 4) {
                case 0: sink += cast(worker, worker.made % 8 == 0 ? (Object) 5 : 5L, true); break;
                case 1: sink += branch(worker, 1000 + worker.made); break;
                case 2: sink += nothing(worker, null); break;
                default: sink += cast(worker, new StringBuilder(), true); break;
            }
        }
    }

    private static int cast(Worker worker, Object given, boolean hit) throws Exception {
        int length = given instanceof CharSequence ? ((CharSequence) given).length() : given.hashCode();
        if (hit) {
            inside(worker);
        }
        return length;
    }

    private static int branch(Worker worker, int value) throws Exception {
        if (value > 999) {
            rare += value;
            inside(worker);
            return rare;
        }
        return value;
    }

    private static int nothing(Worker worker, String given) throws Exception {
        try {
            return given.length();
        } catch (NullPointerException e) {
            inside(worker);
            return 0;
        }
    }

    private static void inside(Worker worker) throws Exception {
        sink++;
        Probe.hit(worker);
    }
}
