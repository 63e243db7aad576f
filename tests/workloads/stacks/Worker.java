/** A thread that makes events of one kind inside all shapes of stacks, in turns. */
final class Worker extends Thread {
    /** How many events a shape makes before the next shape's turn. */
    private static final int TURN = 10;
    /** How many a rare one makes, and in which of its turns. */
    private static final int RARE = 3;

    private static int workers;

    final Kind kind;
    final Notes notes = new Notes();
    final Generated loader = new Generated();
    final Partner partner = new Partner(this);
    final String label;
    /** Whether the next hit makes an event. */
    boolean armed;
    Shape shape;
    /** Number of events so far. */
    int made;
    Throwable failure;

    private final int events;

    Worker(Kind kind, int events, String name) {
        super(null, null, name, 64 << 20);
        this.kind = kind;
        this.events = events;
        synchronized (Worker.class) {
            label = "W" + workers++;
        }
    }

    @Override
    public void run() {
        try {
            if (kind == Kind.ENTER) {
                partner.begin();
            }
            for (int turn = 0; made < events; turn++) {
                for (Shape each : Shape.values()) {
                    // A deep stack costs as much as dozens of others.
                    if (made < events && (!each.rare || turn % RARE == 0)) {
                        shape = each;
                        int before = made;
                        int count = Math.min(each.rare ? RARE : TURN, events - made);
                        each.make(this, count);
                        if (armed || made != before + count) {
                            throw new IllegalStateException(each + " made " + (made - before) + " events of " + count);
                        }
                    }
                }
            }
        } catch (Throwable e) {
            failure = e;
        } finally {
            partner.end();
        }
    }
}
