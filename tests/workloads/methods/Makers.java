/** Objects and arrays that one method makes for two others, so that only what is around it tells whose they are. */
public final class Makers {
    private static final int ROUNDS = 2000;
    private static Object kept;

    private static final class Item {
        long price;
    }

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            work();
            session.expect("made", "work;one;shared;Makers$Item", 3 * ROUNDS);
            session.expect("made", "work;one;shared;int[]", ROUNDS);
            session.expect("made", "work;two;shared;Makers$Item", 2 * ROUNDS);
            session.expect("made", "work;two;shared;int[]", 2 * ROUNDS);
            session.expect("made", "work;two;byte[]", ROUNDS);
            session.expect("made", "work;failing;Makers$Item", ROUNDS);
            session.expect("made", "work;failing;java.lang.IllegalStateException", ROUNDS);
            // The header of an array is 16 bytes, and sizes are multiples of 8.
            session.expect("bytes", "work;one;shared;int[]", ROUNDS * 32);
            session.expect("bytes", "work;two;shared;int[]", 2 * ROUNDS * 24);
            session.expect("bytes", "work;two;byte[]", ROUNDS * 120);
        });
    }

    static void work() {
        for (int i = 0; i < ROUNDS; i++) {
            one();
            try {
                failing();
            } catch (IllegalStateException expected) {
                // What comes next is made by others.
            }
            two();
        }
    }

    static void one() {
        shared(3);
    }

    static void two() {
        shared(1);
        kept = new byte[100];
        shared(1);
    }

    static void failing() {
        Item item = new Item();
        item.price = 1;
        kept = item;
        throw new IllegalStateException();
    }

    static void shared(int count) {
        for (int i = 0; i < count; i++) {
            Item item = new Item();
            item.price = i;
            kept = item;
        }
        kept = new int[count];
    }
}
