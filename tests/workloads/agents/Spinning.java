/** Classes of which one method is called as often as can be, and others now and then. */
final class Spinning {
    private static final int BATCH = 10_000;
    private static final int STEPS = 50;
    private static final int[] NEXT = new int[256];
    private static volatile int sink;

    static {
        for (int at = 0; at < NEXT.length; at++) NEXT[at] = at + 77 & NEXT.length - 1;
    }

    private Spinning() {}

    /** Each load waits for the one before, so nothing makes a call shorter. */
    private static int walk(int at) {
        for (int i = 0; i < STEPS; i++) at = NEXT[at];
        return at;
    }

    /** Only what is called often. */
    static final class Only {
        private Only() {}

        static int step(int at) {
            return walk(at);
        }
    }

    /** Both. */
    static final class Both {
        private Both() {}

        static int step(int at) {
            return walk(at);
        }

        static int cool(int at) {
            return NEXT[at];
        }
    }

    /** Only what is called now and then. */
    static final class Cool {
        private Cool() {}

        static int cool(int at) {
            return NEXT[at];
        }
    }

    /** Spins for so long; gives how often the others were called. */
    static long spin(long ns) {
        long begin = System.nanoTime();
        long batches = 0;
        int at = 0;
        while (System.nanoTime() - begin < ns) {
            for (int i = 0; i < BATCH; i++) at = Both.step(Only.step(at));
            at = Cool.cool(Both.cool(at));
            batches++;
        }
        sink = at;
        return batches;
    }
}
