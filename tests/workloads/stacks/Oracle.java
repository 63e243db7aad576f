import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Ground truth for stacks: {@code Oracle FILE EVENTS KIND...}. For each kind of probe (park, sleep, enter, load, start) it
 * makes {@code EVENTS} events inside every shape of stack, and writes to FILE the stack that it saw itself before each one.
 *
 * The file holds lines {@code frame ID CLASS METHOD LINE BCI}, {@code stack ID FRAME...} (innermost first) and {@code event
 * KIND SHAPE TID KEY STACK}. A key is what jtrace's event of this thread carries as well; {@code -} where their order tells.
 */
public final class Oracle {
    private static final Shape[] PLATFORM = Shape.values();

    public static void main(String[] args) throws Exception {
        int events = Integer.parseInt(args[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        // Classes, call sites and reflection are resolved before anybody watches, and hot code is compiled.
        for (Kind kind : Kind.values()) {
            run(kind, PLATFORM.length, new ArrayList<>());
        }
        System.out.println("READY");
        while (in.readLine() != null) {
            List<Notes> notes = new ArrayList<>();
            int made = 0;
            for (int i = 2; i < args.length; i++) {
                String name = args[i];
                made += name.startsWith("virtual-")
                    ? Virtual.run(Kind.valueOf(name.substring(8).toUpperCase()), events, notes)
                    : run(Kind.valueOf(name.toUpperCase()), events, notes);
            }
            try (PrintWriter out = new PrintWriter(args[0], "UTF-8")) {
                for (int i = 0; i < notes.size(); i++) {
                    notes.get(i).write(out, i);
                }
            }
            System.out.println("DONE events=" + made);
        }
    }

    /** Makes the events of a kind, on as many threads at once as the kind allows. */
    private static int run(Kind kind, int events, List<Notes> notes) throws Exception {
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < kind.threads; i++) {
            workers.add(new Worker(kind, events / kind.threads, "oracle-" + kind.name().toLowerCase()));
        }
        for (Worker worker : workers) {
            worker.start();
        }
        int made = 0;
        for (Worker worker : workers) {
            worker.join();
            if (worker.failure != null) {
                throw new IllegalStateException(worker.failure);
            }
            notes.add(worker.notes);
            made += worker.made;
        }
        return made;
    }
}
