package jtrace.bench;

import java.util.Map;

/** A program that is asked for iterations. Its inputs are made by itself, and are the same in each run. */
interface Work {
    /** Makes the inputs, at a scale that the time of an iteration follows. The working folder is the program's own. */
    void setUp(int scale) throws Exception;

    /** Does the work once. This alone is timed. */
    void iterate() throws Exception;

    /**
     * Checks what the iteration made against numbers that are known without it, and throws {@link Wrong} where they differ.
     *
     * @param counts takes numbers of the work, by name, that hold for any run
     * @return a fingerprint of the result, equal for every iteration
     */
    long check(Map<String, Long> counts) throws Exception;

    /** A result that is not the right one. */
    final class Wrong extends Exception {
        private static final long serialVersionUID = 1;

        Wrong(String message) {
            super(message);
        }

        /** Throws unless both are equal. */
        static void unless(String what, long found, long expected) throws Wrong {
            if (found != expected) {
                throw new Wrong(found + " " + what + ", and " + expected + " were expected");
            }
        }
    }
}
