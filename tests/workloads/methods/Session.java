import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * The protocol of these programs: READY, and for each line on stdin its work, then what a complete count of that work must be,
 * one line each: "expected calls Fib.fib 21891" (a kind, what it is of, and a number), then DONE with how many such lines.
 */
final class Session {
    /** What a program does for each GO. */
    interface Work {
        void run(Session session) throws Exception;
    }

    private final StringBuilder expected = new StringBuilder();
    private int lines;

    private Session() {}

    /** Says what a kind of number must be, of a method, class, thread or place. */
    void expect(String kind, String of, long number) {
        expected.append("expected ").append(kind).append(' ').append(of).append(' ').append(number).append('\n');
        lines++;
    }

    static void serve(Work work) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            Session session = new Session();
            work.run(session);
            System.out.print(session.expected);
            System.out.println("DONE expected=" + session.lines);
        }
    }
}
