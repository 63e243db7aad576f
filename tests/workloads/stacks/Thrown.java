/** In handlers and finally blocks, of exceptions that came from deeper frames, are implicit, or are thrown again. */
final class Thrown {
    private static final int[] EMPTY = {};

    private Thrown() {}

    static void make(Worker worker, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            for (int warm = 0; warm < 30; warm++) {
                turn(worker, warm);
            }
            worker.armed = true;
            turn(worker, worker.made);
        }
    }

    private static int turn(Worker worker, int value) throws Exception {
        switch (value % 4) {
            case 0:
                return caught(worker, value);
            case 1:
                return implicit(worker, value);
            case 2:
                try {
                    return cleaned(worker, value);
                } catch (IllegalArgumentException e) {
                    return -1;
                }
            default:
                return again(worker, value);
        }
    }

    private static int caught(Worker worker, int value) throws Exception {
        try {
            return deep(value, 12);
        } catch (IllegalArgumentException e) {
            Probe.hit(worker);
            return e.getMessage().length();
        }
    }

    private static int implicit(Worker worker, int value) throws Exception {
        try {
            return EMPTY[value];
        } catch (ArrayIndexOutOfBoundsException e) {
            Probe.hit(worker);
            return value;
        }
    }

    private static int cleaned(Worker worker, int value) throws Exception {
        try {
            return deep(value, 3);
        } finally {
            Probe.hit(worker);
        }
    }

    private static int again(Worker worker, int value) throws Exception {
        try {
            try {
                return deep(value, 5);
            } catch (IllegalArgumentException e) {
                throw new UnsupportedOperationException(e);
            }
        } catch (UnsupportedOperationException e) {
            return caught(worker, value);
        }
    }

    private static int deep(int value, int depth) {
        if (depth == 0) {
            throw new IllegalArgumentException("thrown");
        }
        return deep(value, depth - 1) + 1;
    }
}
