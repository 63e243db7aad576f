/**
 * Loops, lines, blocks, accesses of a field, calls, receivers, arguments and chains of calls, each as often as its source says. What
 * is expected of a marker stands place by place in the order of the code: how often it is entered (or passed), and left by an exception.
 */
public final class Places {
    private static final int ROUNDS = 60;
    private static int sink;
    private int total;

    private Places() {}

    /** What has an area. */
    interface Shape {
        int area(int times);
    }

    static final class Square implements Shape {
        @Override
        public int area(int times) {
            return 4 * times;
        }
    }

    static final class Circle implements Shape {
        @Override
        public int area(int times) {
            return 3 * times;
        }
    }

    public static void main(String[] args) throws Exception {
        Places places = new Places();
        Shape[] shapes = {new Square(), new Circle(), new Square()};
        Session.serve(session -> {
            for (int round = 0; round < ROUNDS; round++) {
                loops();
                leaves();
                sink += lines(round) + calls(round) + blocks(round % 3).length();
                places.fields();
                sink += shapes[round % 3].area(round);
                given(round, (long) round << 33, round / 2.0, round % 2 == 0, "round " + round, shapes);
                first(round);
            }
            loops(session);
            others(session);
            values(session);
        });
    }

    private static void loops(Session session) {
        expect(session, "loop", 0, ROUNDS, 0);
        expect(session, "loop", 1, 5 * ROUNDS, 0);
        expect(session, "iteration", 0, 5 * ROUNDS, 0);
        expect(session, "iteration", 1, 15 * ROUNDS, 0);
        expect(session, "leaves", 0, ROUNDS, ROUNDS);
    }

    private static void others(Session session) {
        // A line is entered whenever control comes to it from outside of the range: in each of four iterations.
        expect(session, "range", 0, 4 * ROUNDS, 0);
        expect(session, "fails", 0, ROUNDS, ROUNDS);
        expect(session, "risky", 0, ROUNDS, ROUNDS / 2);
        expect(session, "risky", 1, ROUNDS, ROUNDS);
        for (int place = 0; place < 4; place++) {
            expect(session, "plain", place, ROUNDS, 0);
        }
        for (int place = 0; place < 2; place++) {
            expect(session, "read", place, ROUNDS, 0);
        }
        expect(session, "write", 0, ROUNDS, 0);
        for (int place = 0; place < 3; place++) {
            expect(session, "access", place, ROUNDS, 0);
        }
        // The switch; its three cases by turns; what follows.
        expect(session, "block", 0, ROUNDS, 0);
        for (int place = 1; place <= 3; place++) {
            expect(session, "block", place, ROUNDS / 3, 0);
        }
        expect(session, "block", 4, ROUNDS, 0);
        session.expect("receiver", "Places$Square", 2 * ROUNDS / 3);
        session.expect("receiver", "Places$Circle", ROUNDS / 3);
    }

    private static void values(Session session) {
        long sum = (long) ROUNDS * (ROUNDS - 1) / 2;
        session.expect("argument", "0", sum);
        session.expect("argument", "1", sum << 33);
        // In halves.
        session.expect("argument", "2", sum);
        session.expect("argument", "3", ROUNDS / 2);
        // The lengths of the texts: ten rounds have a number of one digit.
        session.expect("argument", "4", 10 * 7 + (ROUNDS - 10) * 8);
        session.expect("argument", "5", ROUNDS);
        session.expect("context", "Places.first", ROUNDS);
        session.expect("context", "Places.first > Places.second", 2 * ROUNDS);
        session.expect("context", "Places.first > Places.second > Places.third", 2 * ROUNDS);
        session.expect("context", "Places.first > Places.third", ROUNDS);
    }

    private static void expect(Session session, String marker, int place, long entered, long thrown) {
        session.expect("entered", marker + "#" + place, entered);
        session.expect("thrown", marker + "#" + place, thrown);
    }

    static void loops() {
        for (int i = 0; i < 5; i++) {
            for (int j = 0; j < 3; j++) {
                sink += j;
            }
        }
    }

    /** An exception leaves the loop in its third iteration. */
    static void leaves() {
        try {
            for (int i = 0; i < 5; i++) {
                risky(i == 2);
            }
        } catch (IllegalStateException third) {
            sink++;
        }
    }

    static int lines(int round) {
        int sum = 0;
        for (int i = 0; i < 4; i++) {
            sum += i; // first
            if (i == 2 && round % 2 == 0) {
                continue;
            }
            sum += risky(false); // last
            sum--;
        }
        try {
            risky(true); // fails
        } catch (IllegalStateException expected) {
            sum++;
        }
        return sum;
    }

    static int calls(int round) {
        int sum = 0;
        try {
            sum += risky(round % 2 == 0);
        } catch (IllegalStateException expected) {
            sum--;
        }
        sum += plain(plain(sum));
        sum += 3 * plain(round > 4 ? 1 : 2);
        try {
            risky(true);
        } catch (IllegalStateException expected) {
            sum += plain(1);
        }
        return sum;
    }

    static int plain(int value) {
        return value;
    }

    static int risky(boolean fails) {
        if (fails) {
            throw new IllegalStateException("risky");
        }
        return 1;
    }

    void fields() {
        total = total + 1;
        sink += total;
    }

    static String blocks(int number) {
        String name;
        switch (number) {
            case 0:
                name = "zero";
                break;
            case 1:
                name = "one";
                break;
            default:
                name = "many";
        }
        return name + number;
    }

    static void given(int number, long wide, double half, boolean even, String text, Object other) {
        sink += number + (int) wide + (int) half + (even ? 1 : 0) + text.length() + (other == null ? 1 : 0);
    }

    static void first(int round) {
        second(round);
        second(round);
        third(round);
    }

    static void second(int round) {
        third(round);
    }

    static void third(int round) {
        sink += round;
    }
}
