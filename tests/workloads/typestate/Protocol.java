import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * What the programs of this folder have in common: READY, and for each line on stdin the work that the argument names, "good" or "bad",
 * then what a complete report must say of it: "expected illegal HasNext 100" (calls that are illegal, of which an object has one at most)
 * and "expected dead HasNext 0" (objects that end where they may not), then DONE.
 *
 * Objects die in a collection that the program asks for, or at the latest with the program; the sum of both is what is expected.
 */
final class Protocol {
    /** What is done, and how many violations there are in it. */
    interface Work {
        void run(Protocol protocol) throws Exception;
    }

    /** So many objects break their protocol in a program that does. */
    static final int OBJECTS = 100;

    private static volatile Object sink;
    private final String property;
    private long illegal;
    private long dead;

    private Protocol(String property) {
        this.property = property;
    }

    /** So many calls are illegal. */
    void illegal(long calls) {
        illegal += calls;
    }

    /** So many objects end where they may not. */
    void dead(long objects) {
        dead += objects;
    }

    /** Something that must not happen: the program would not be what it says. */
    static void unreachable(String what) {
        throw new IllegalStateException(what);
    }

    static void serve(String[] args, String property, Work good, Work bad) throws Exception {
        Work work = args[0].equals("good") ? good : args[0].equals("bad") ? bad : null;
        if (work == null) {
            throw new IllegalArgumentException("good or bad");
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            Protocol protocol = new Protocol(property);
            work.run(protocol);
            collect();
            System.out.println("expected illegal " + property + " " + protocol.illegal);
            System.out.println("expected dead " + property + " " + protocol.dead);
            System.out.println("DONE expected=2");
        }
    }

    /** Lets what nobody holds die, and allocates afterwards: some collectors tell of deaths only then. */
    private static void collect() {
        System.gc();
        for (int i = 0; i < 1000; i++) {
            sink = new byte[1024];
        }
    }
}
