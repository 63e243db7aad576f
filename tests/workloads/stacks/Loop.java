/** Events from inside long loops of one call, which run in code that was compiled for the loop (on-stack replacement). */
final class Loop {
    private static int sink;
    private static int turns;

    private Loop() {}

    static void make(Worker worker, int count) throws Exception {
        // The first calls are interpreted until the loop is compiled; later ones run what was compiled for the call.
        switch (turns++ % 3) {
            case 0: single(worker, count); break;
            case 1: nested(worker, count); break;
            default: inner(worker, count); break;
        }
    }

    private static void single(Worker worker, int count) throws Exception {
        int rounds = count * 20_000;
        int sum = 0;
        for (int i = 0; i < rounds; i++) {
            sum = sum * 31 + i;
            if (i % 20_000 == 19_999) {
                worker.armed = true;
                Probe.hit(worker);
            }
        }
        sink += sum;
    }

    private static void nested(Worker worker, int count) throws Exception {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < 150; j++) {
                for (int k = 0; k < 150; k++) {
                    sum ^= i * j + k;
                }
            }
            worker.armed = true;
            call(worker, sum);
        }
        sink += sum;
    }

    private static void inner(Worker worker, int count) throws Exception {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            long round = 0;
            while (round < 20_000) {
                sum += round++ ^ i;
                call(worker, (int) sum);
            }
            worker.armed = true;
            call(worker, (int) sum);
        }
        sink += (int) sum;
    }

    private static void call(Worker worker, int value) throws Exception {
        sink ^= value;
        Probe.hit(worker);
    }
}
