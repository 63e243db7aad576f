/** Stands in for DaCapo's: the same names, and the same order of calls. */
public final class Harness {
    public static void main(String[] args) throws Exception {
        org.dacapo.harness.TestHarness.main(args);
    }
}
