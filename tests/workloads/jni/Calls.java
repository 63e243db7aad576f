import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

/**
 * Native methods whose calls of JNI are known: loops, critical sections one by one and within each other, calls back into Java that nest,
 * exceptions thrown there, and a thread of native code that attaches itself. For each line on stdin it works once and says what a
 * complete count must be: "expected calls GetArrayLength&lt;-Calls.lengths 1000".
 */
public final class Calls {
    private static final int LENGTHS = 1000;
    private static final int SUMS = 50;
    private static final int PAIRS = 20;
    private static final int DEPTH = 30;
    private static final int FAILURES = 40;
    private static final int SLOW = 2;
    private static final int QUICK = 2;
    private static final long SLOW_NS = 300_000_000;
    private static final int WORKED = 77;
    private static final int ATTACHED = 33;

    /** Lives as long as the program, so that whoever asks for its name can have it. */
    private static final ExecutorService worker = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "jni-worker");
        thread.setDaemon(true);
        return thread;
    });

    private static final StringBuilder expected = new StringBuilder();
    private static int lines;
    static int sink;

    private Calls() {}

    /** Calls GetArrayLength so often. */
    static native int lengths(int[] array, int times);

    /** Adds an array up in a critical section. */
    static native int sum(int[] array);

    /** Two critical sections, the second within the first. */
    static native int pair(int[] outer, byte[] inner);

    /** Calls back() by CallStaticIntMethod. */
    static native int down(int n);

    /** Calls fail() by CallStaticVoidMethod, and clears what it throws. */
    static native boolean attempt();

    /** Calls last() by CallStaticVoidMethodA. */
    static native void slow(long ns);

    /** Calls GetVersion so often from a thread of native code, which attaches itself before and calls back() once. */
    static native void attached(int times);

    static native void prepare();

    static int back(int n) {
        return n == 0 ? 0 : 1 + down(n - 1);
    }

    static void fail() {
        throw new IllegalStateException("wanted");
    }

    static void last(long ns) {
        long end = System.nanoTime() + ns;
        // Nothing is asked of the time but that it passes.
        for (long left = ns; left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static void expect(String kind, String of, long number) {
        expected.append("expected ").append(kind).append(' ').append(of).append(' ').append(number).append('\n');
        lines++;
    }

    private static void expectCalls(String function, String caller, long number) {
        expect("calls", function + "<-Calls." + caller, number);
    }

    private static void work() throws Exception {
        int[] array = new int[100];
        byte[] bytes = new byte[10];
        sink += lengths(array, LENGTHS);
        expectCalls("GetArrayLength", "lengths", LENGTHS);
        for (int i = 0; i < SUMS; i++) {
            sink += sum(array);
        }
        expectCalls("GetArrayLength", "sum", SUMS);
        expectCalls("GetPrimitiveArrayCritical", "sum", SUMS);
        expectCalls("ReleasePrimitiveArrayCritical", "sum", SUMS);
        expect("sections", "Calls.sum", SUMS);
        for (int i = 0; i < PAIRS; i++) {
            sink += pair(array, bytes);
        }
        expectCalls("GetPrimitiveArrayCritical", "pair", 2 * PAIRS);
        expectCalls("ReleasePrimitiveArrayCritical", "pair", 2 * PAIRS);
        expect("sections", "Calls.pair", PAIRS);
        sink += down(DEPTH);
        // The thread of native code calls once more.
        expectCalls("CallStaticIntMethod", "down", DEPTH + 1);
        expect("deeper_than_3", "Calls.down", DEPTH + 1 - 3);
        for (int i = 0; i < FAILURES; i++) {
            sink += attempt() ? 1 : 0;
        }
        expectCalls("CallStaticVoidMethod", "attempt", FAILURES);
        expectCalls("ExceptionCheck", "attempt", FAILURES);
        expectCalls("ExceptionClear", "attempt", FAILURES);
        // A call that should be quick lasts as long as the machine lets its thread wait.
        int perhaps = 0;
        for (int i = 0; i < QUICK; i++) {
            long begin = System.nanoTime();
            slow(0);
            perhaps += System.nanoTime() - begin > 200_000_000 ? 1 : 0;
        }
        for (int i = 0; i < SLOW; i++) {
            slow(SLOW_NS);
        }
        expectCalls("CallStaticVoidMethodA", "slow", SLOW + QUICK);
        expect("slower_than_200ms", "Calls.slow", SLOW);
        expect("perhaps_slower_than_200ms", "Calls.slow", perhaps);
        worker.submit(() -> sink += lengths(new int[1], WORKED)).get();
        expectCalls("GetArrayLength", "lengths", WORKED);
        expect("by_jni_worker", "Calls.lengths", WORKED);
        attached(ATTACHED);
        expect("calls", "GetVersion<-libjniwork.so!native_thread", ATTACHED);
        expect("calls", "CallStaticIntMethod<-libjniwork.so!native_thread", 1);
        expect("calls", "AttachCurrentThread<-libjniwork.so!native_thread", 1);
        expect("calls", "DetachCurrentThread<-libjniwork.so!native_thread", 1);
        expectCalls("GetJavaVM", "attached", 1);
    }

    /** The library lies beside the classes. */
    static void load() {
        System.load(new File(System.getProperty("java.class.path"), "libjniwork.so").getAbsolutePath());
    }

    public static void main(String[] args) throws Exception {
        load();
        prepare();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("READY");
        while (in.readLine() != null) {
            expected.setLength(0);
            lines = 0;
            work();
            System.out.print(expected);
            System.out.println("DONE expected=" + lines);
        }
    }
}
