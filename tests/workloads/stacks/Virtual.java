import java.util.List;

/** Events on virtual threads, where there are such. The stack of a virtual thread stands on that of its carrier. */
final class Virtual {
    /** Events of one thread. */
    private static final int TURN = 10;

    final Notes notes;
    final Generated loader = new Generated();
    /** Mounted: the thread never left its carrier. Unmounted: it did before. Pinned: a native frame keeps it there. */
    String shape = "mounted";

    private final Kind kind;
    private Partner partner;

    private Virtual(Kind kind, Notes notes) {
        this.kind = kind;
        this.notes = notes;
    }

    /** Makes the events of a kind on threads of ten events each, and gives their number: 0 before JDK 21. */
    static int run(Kind kind, int events, List<Notes> notes) throws Exception {
        java.lang.reflect.Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            return 0;
        }
        Virtual own = new Virtual(kind, new Notes());
        notes.add(own.notes);
        for (int made = 0; made < events; made += TURN) {
            int first = made;
            int count = Math.min(TURN, events - made);
            own.shape = new String[] {"mounted", "unmounted", "pinned"}[made / TURN % 3];
            Throwable[] failure = new Throwable[1];
            Thread thread = (Thread) start.invoke(null, (Runnable) () -> {
                try {
                    own.turns(first, count);
                } catch (Throwable e) {
                    failure[0] = e;
                }
            });
            thread.join();
            if (failure[0] != null) {
                throw new IllegalStateException(failure[0]);
            }
        }
        return events;
    }

    private void turns(int first, int count) throws Exception {
        partner = new Partner(Thread.currentThread());
        if (kind == Kind.ENTER) {
            partner.begin();
        }
        try {
            for (int i = 0; i < count; i++) {
                if (shape.equals("unmounted")) {
                    Thread.yield();
                }
                down(first + i, 7);
            }
        } finally {
            partner.end();
        }
    }

    private int down(int number, int depth) throws Exception {
        if (depth > 0) {
            return down(number, depth - 1) + 1;
        }
        if (shape.equals("pinned")) {
            String name = "VirtualPinned" + kind + number;
            loader.define(name, Generated.withInitializer(name));
            Upcall.CALLBACK.set(() -> event(number));
            Class.forName(name, true, loader);
            Upcall.CALLBACK.remove();
        } else {
            event(number);
        }
        return 0;
    }

    private void event(int number) {
        if (kind == Kind.ENTER) {
            partner.hold();
            VirtualProbe.enter(this, partner);
        } else {
            VirtualProbe.load(this, "Virtual" + number);
        }
    }
}
