import java.io.StringReader;
import java.util.Scanner;

/** Scanners that are closed in the end, and some that are used afterwards. */
public final class ScannerClosed {
    private static long sum;

    private ScannerClosed() {}

    public static void main(String[] args) throws Exception {
        Protocol.serve(args, "ScannerClosed", ScannerClosed::good, ScannerClosed::bad);
    }

    private static void good(Protocol protocol) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            Scanner scanner = new Scanner(new StringReader("1 2 three\nfour"));
            while (scanner.hasNextInt()) {
                sum += scanner.nextInt();
            }
            sum += scanner.next().length() + scanner.nextLine().length() + scanner.nextLine().length();
            scanner.close();
            scanner.close();
        }
    }

    private static void bad(Protocol protocol) {
        for (int i = 0; i < Protocol.OBJECTS; i++) {
            Scanner scanner = new Scanner("1 2 3");
            sum += scanner.nextInt();
            scanner.close();
            try {
                if (scanner.hasNextInt()) {
                    sum += scanner.nextInt();
                }
                Protocol.unreachable("scanned");
            } catch (IllegalStateException expected) {
                sum++;
            }
            protocol.illegal(1);
        }
    }
}
