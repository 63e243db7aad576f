/**
 * 101,002 calls of chosen methods for each GO, of which 2,000 end by an exception, and then none until the next GO: what was
 * compiled in one round is idle in between, as a program is while it waits for its next request. {@code Tally <sales>} makes
 * fewer or more, five for each sale and one for each 20 of them.
 */
public final class Tally {
    private static final int SALES_OF_FLUSH = 20;
    private static int sales = 20_000;
    private static final RuntimeException REFUSED = new RuntimeException("refused", null, false, false) {};
    private static long cents;
    private static long refused;

    /** What is sold. */
    static final class Till {
        private long sum;

        void sell(int number) {
            sum += priced(number);
            try {
                checked(number);
            } catch (RuntimeException expected) {
                refused++;
            }
        }

        long priced(int number) {
            return rounded(number * 19L);
        }

        static long rounded(long cents) {
            return (cents + 4) / 5 * 5;
        }

        static void checked(int number) {
            if (number % 10 == 9) {
                throw REFUSED;
            }
        }

        long flushed() {
            long flushed = sum;
            sum = 0;
            return flushed;
        }
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) {
            sales = Integer.parseInt(args[0]);
        }
        Till till = new Till();
        Session.serve(session -> {
            round(till);
            session.expect("calls", "Tally.round", 1);
            session.expect("calls", "Tally.counted", sales);
            session.expect("calls", "Tally$Till.sell", sales);
            session.expect("calls", "Tally$Till.priced", sales);
            session.expect("calls", "Tally$Till.rounded", sales);
            session.expect("calls", "Tally$Till.checked", sales);
            session.expect("errors", "Tally$Till.checked", sales / 10);
            session.expect("calls", "Tally$Till.flushed", sales / SALES_OF_FLUSH);
        });
    }

    /** The last call of it ends by an exception, and no chosen method is called or left afterwards, but for this one. */
    static void round(Till till) {
        for (int i = 0; i < sales; i++) {
            if (i % SALES_OF_FLUSH == 0) {
                cents += till.flushed();
            }
            counted(i);
            till.sell(i);
        }
    }

    static void counted(int number) {
        cents += number;
    }
}
