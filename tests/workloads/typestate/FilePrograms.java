import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * The micro-tests of the Marker Tracing Framework, by their names there.
 *
 * <ul>
 *   <li>Main: two files, each opened, read to its end, asked after each read whether that is it, and closed. Of a file of n elements these
 *       are 2n + 2 events, and n is 1,500,001: 3,000,004 events a file, 6,000,008 for both. All is legal. Only opening and closing change a
 *       state: 4 events.
 *   <li>NoEof: a file that is read without ever being asked for its end, which is legal: n + 2 events.
 *   <li>NoOpen: a file that is read and closed without having been opened: its first read is illegal, and no more is said of it.
 *   <li>NoClose: a file that is never closed, which is found when it dies.
 * </ul>
 *
 * The number of elements can be given as second argument.
 */
public final class FilePrograms {
    private static final int ELEMENTS = 1_500_001;
    private static long sum;

    private FilePrograms() {}

    public static void main(String[] args) throws Exception {
        int elements = args.length > 1 ? Integer.parseInt(args[1]) : ELEMENTS;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            run(args[0], elements);
            System.gc();
            System.out.println("DONE expected=5");
        }
    }

    private static void run(String program, int n) {
        switch (program) {
            case "Main":
                main(n);
                main(n);
                expect(4L * n + 4, 4, 0, 0, 2);
                break;
            case "NoEof":
                noEof(n);
                expect(n + 2L, 2, 0, 0, 1);
                break;
            case "NoOpen":
                noOpen(n);
                expect(2L * n + 1, 1, 1, 0, 1);
                break;
            case "NoClose":
                noClose(n);
                expect(2L * n + 1, 1, 0, 1, 1);
                break;
            default:
                throw new IllegalArgumentException("Main, NoEof, NoOpen or NoClose");
        }
    }

    private static void expect(long events, long transitions, long illegal, long dead, long objects) {
        System.out.println("expected events File " + events);
        System.out.println("expected transitions File " + transitions);
        System.out.println("expected illegal File " + illegal);
        System.out.println("expected dead File " + dead);
        System.out.println("expected objects File " + objects);
    }

    private static void main(int n) {
        File file = new File(n);
        file.open("main");
        readToEnd(file);
        file.close();
    }

    private static void noEof(int n) {
        File file = new File(n);
        file.open("no eof");
        for (int i = 0; i < n; i++) {
            sum += file.read();
        }
        file.close();
    }

    private static void noOpen(int n) {
        File file = new File(n);
        readToEnd(file);
        file.close();
    }

    private static void noClose(int n) {
        File file = new File(n);
        file.open("no close");
        readToEnd(file);
    }

    private static void readToEnd(File file) {
        do {
            sum += file.read();
        } while (!file.eof());
    }
}
