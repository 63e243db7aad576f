/*
 * incident: Interest is computed by BigDecimal.pow with thousands of digits, for each account again.
 * names: cpu-hot-line|cpu-hot-method BigNumbers.compound
 * load: cpu
 * jfr: jdk.ExecutionSample BigNumbers.compound
 */
import incidents.Incident;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;

public final class BigNumbers {
    private static final int DAYS = 720;

    static final class Account {
        private BigDecimal balance = new BigDecimal("1024.55");
        private final BigDecimal rate;

        Account(int basisPoints) {
            rate = BigDecimal.ONE.add(new BigDecimal(basisPoints).movePointLeft(8));
        }

        void endOfYear() {
            balance = compound(balance, rate);
            if (balance.precision() > 12) {
                balance = new BigDecimal("1024.55");
            }
        }
    }

    private static BigDecimal compound(BigDecimal balance, BigDecimal rate) {
        return balance.multiply(rate.pow(DAYS)).setScale(2, RoundingMode.HALF_EVEN);
    }

    private static void close(List<Account> accounts) {
        while (!accounts.isEmpty()) {
            accounts.forEach(Account::endOfYear);
        }
    }

    public static void main(String[] args) throws Exception {
        List<Account> accounts = new ArrayList<>();
        for (int i = 1; i < 500; i++) {
            accounts.add(new Account(i));
        }
        Executors.newSingleThreadExecutor().execute(() -> close(accounts));
        Thread.sleep(700);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
