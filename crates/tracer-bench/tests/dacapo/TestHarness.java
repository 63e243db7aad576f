package org.dacapo.harness;

/** Benchmark "good" is valid in the size "small", "bad" never is. Either prints where the protocol is spoken. */
public final class TestHarness {
    public static void main(String[] args) throws Exception {
        CommandLineArgs words = new CommandLineArgs(args);
        String benchmark = args[args.length - 1];
        Callback callback = (Callback) Class.forName(words.of("-c")).getConstructor(CommandLineArgs.class).newInstance(words);
        if (Integer.parseInt(words.of("-n")) < 2 || !new java.io.File(".").getCanonicalFile().canWrite()) {
            throw new IllegalStateException("one iteration, or no folder to work in");
        }
        System.out.println("Version: preparing " + benchmark);
        do {
            callback.start(benchmark);
            System.out.println("DONE ns=1 valid=true of the benchmark's own");
            Thread.sleep(20);
            callback.stop(/*20*/);
            callback.complete(benchmark, benchmark.equals("good") && words.of("-s").equals("small"));
        } while (callback.runAgain());
    }
}
