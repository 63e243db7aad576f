/** The kinds of probes, and how many threads may hit one at once without disturbing each other. */
enum Kind {
    PARK(2),
    SLEEP(2),
    /** One at a time: the partner that holds the monitor needs a CPU. */
    ENTER(1),
    LOAD(2),
    /** Hit on a new thread, which has no Java frame yet. */
    START(1);

    final int threads;

    Kind(int threads) {
        this.threads = threads;
    }
}
