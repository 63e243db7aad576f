import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Does nothing: a target with a known main class and arguments that stays as it is until its input ends. */
public final class Idle {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            System.out.println("DONE arguments=" + args.length);
        }
    }
}
