/** Makes 20,000 objects at once. */
public final class Burst {
    private static final int OBJECTS = 20_000;
    private static final Object[] SINK = new Object[64];

    /** 12 bytes of header and 4 of padding. */
    static final class Item {}

    public static void main(String[] args) throws Exception {
        Session.serve(session -> {
            for (int i = 0; i < OBJECTS; i++) {
                SINK[i & 63] = new Item();
            }
            session.expect("objects", Item.class.getName(), OBJECTS);
        });
    }
}
