import java.util.List;

/** Events on virtual threads, where there are such. The stack of a virtual thread stands on that of its carrier. */
final class Virtual {
    private Virtual() {}

    /** Makes the events of a kind on threads of ten events each, and gives their number: 0 before JDK 21. */
    static int run(Kind kind, int events, List<Notes> notes) throws Exception {
        java.lang.reflect.Method start;
        try {
            start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        } catch (NoSuchMethodException e) {
            return 0;
        }
        Generated loader = new Generated();
        Notes own = new Notes();
        notes.add(own);
        int made = 0;
        while (made < events) {
            int first = made;
            int count = Math.min(10, events - made);
            Throwable[] failure = new Throwable[1];
            Thread thread = (Thread) start.invoke(null, (Runnable) () -> {
                try {
                    turns(kind, own, loader, first, count);
                } catch (Throwable e) {
                    failure[0] = e;
                }
            });
            thread.join();
            if (failure[0] != null) {
                throw new IllegalStateException(failure[0]);
            }
            made += count;
        }
        return made;
    }

    private static void turns(Kind kind, Notes notes, Generated loader, int first, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            // Half of the threads were unmounted before, so that their outer frames are in the heap.
            if (first / 10 % 2 == 1) {
                Thread.yield();
            }
            down(kind, notes, loader, first + i, 7);
        }
    }

    private static int down(Kind kind, Notes notes, Generated loader, int number, int depth) throws Exception {
        if (depth > 0) {
            return down(kind, notes, loader, number, depth - 1) + 1;
        }
        String shape = number / 10 % 2 == 1 ? "unmounted" : "mounted";
        if (kind == Kind.PARK) {
            VirtualProbe.park(notes, shape, loader, "VirtualPark" + number);
        } else {
            VirtualProbe.load(notes, shape, loader, "Virtual" + number);
        }
        return 0;
    }
}
