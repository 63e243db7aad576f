package jdk.internal.vm;

/** Stands for the JVM's own class, which releases have from 19 on; it is never loaded. */
public class Continuation {
    private Continuation() {}

    /** From here on the virtual thread stays on its carrier. */
    public static void pin() {
        throw new AssertionError();
    }

    /** Up to here. */
    public static void unpin() {
        throw new AssertionError();
    }
}
