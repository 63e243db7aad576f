import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Calls GetArrayLength a million times for each line on stdin, in ten portions within calls back into Java. */
public final class Hot {
    private static final int PORTIONS = 10;
    private static final int TIMES = 100_000;
    private static final int[] array = new int[3];

    private Hot() {}

    /** Calls portion() so often by CallStaticVoidMethod. */
    static native void run(int portions);

    static void portion() {
        Calls.sink += Calls.lengths(array, TIMES);
    }

    public static void main(String[] args) throws Exception {
        Calls.load();
        Calls.prepare();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            long began = System.nanoTime();
            run(PORTIONS);
            long ns = System.nanoTime() - began;
            System.out.println("expected calls CallStaticVoidMethod<-Hot.run " + PORTIONS);
            System.out.println("DONE ns=" + ns);
        }
    }
}
