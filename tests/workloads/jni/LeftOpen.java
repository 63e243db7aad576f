import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Opens a critical section on the first line of stdin and never closes it, so that whoever looks must say that it is open. The string is
 * Latin-1, of which the JVM gives a copy: no collector waits.
 */
public final class LeftOpen {
    private LeftOpen() {}

    static native void hold(String text);

    public static void main(String[] args) throws Exception {
        Calls.load();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        int opened = 0;
        while (in.readLine() != null) {
            if (opened == 0) {
                hold("held");
                opened = 1;
            }
            System.out.println("DONE opened=" + opened);
        }
    }
}
