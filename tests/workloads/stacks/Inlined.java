/** Small hot methods that compilers put into each other, three levels and more, on several lines of one caller. */
final class Inlined {
    private int total;

    private Inlined() {}

    static void make(Worker worker, int count) throws Exception {
        Inlined inlined = new Inlined();
        for (int i = 0; i < count; i++) {
            for (int warm = 0; warm < 60; warm++) {
                inlined.turn(worker, warm);
            }
            worker.armed = true;
            inlined.turn(worker, i);
        }
    }

    private void turn(Worker worker, int value) throws Exception {
        if (value % 3 == 0) {
            one(worker, value);
        } else if (value % 3 == 1) {
            total += value;
            one(worker, value + 1);
        } else {
            two(worker, value);
            total--;
        }
    }

    private void one(Worker worker, int value) throws Exception {
        total ^= value;
        two(worker, value);
    }

    private void two(Worker worker, int value) throws Exception {
        three(worker); total += value;
    }

    private static void three(Worker worker) throws Exception {
        four(
            worker);
    }

    private static void four(Worker worker) throws Exception {
        Probe.hit(worker);
    }
}
