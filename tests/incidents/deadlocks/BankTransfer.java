/*
 * incident: Two transfers between the same accounts in opposite directions hold one account each and wait for the other one for ever.
 * names: deadlock BankTransfer.withdrawAndDeposit
 * jfr: none
 */
package deadlocks;

import incidents.Incident;
import java.math.BigDecimal;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public final class BankTransfer {
    static final class Account {
        private final String iban;
        private BigDecimal balance;

        Account(String iban, String balance) {
            this.iban = iban;
            this.balance = new BigDecimal(balance);
        }

        synchronized void add(BigDecimal amount) {
            balance = balance.add(amount);
        }

        synchronized BigDecimal balance() {
            return balance;
        }
    }

    private final Account[] accounts = {
        new Account("DE02", "1200.00"), new Account("FR76", "40.50"), new Account("AT61", "981.10"),
    };

    void transfer(int from, int to, String amount) {
        withdrawAndDeposit(accounts[from], accounts[to], new BigDecimal(amount));
    }

    private void withdrawAndDeposit(Account from, Account to, BigDecimal amount) {
        synchronized (from) {
            book(from.iban, amount.negate());
            from.add(amount.negate());
            synchronized (to) {
                to.add(amount);
            }
        }
    }

    /** The booking system takes a moment. */
    private static void book(String iban, BigDecimal amount) {
        try {
            TimeUnit.MILLISECONDS.sleep(40 + amount.signum() + iban.length());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws Exception {
        BankTransfer bank = new BankTransfer();
        ExecutorService tellers = Executors.newFixedThreadPool(6);
        tellers.execute(() -> bank.transfer(0, 1, "10.00"));
        tellers.execute(() -> bank.transfer(1, 0, "3.20"));
        Thread statements = new Thread(() -> {
            while (true) {
                bank.accounts[2].balance();
                bank.transfer(2, 2, "1.00");
            }
        }, "statements");
        statements.setDaemon(true);
        statements.start();
        Thread.sleep(500);
        Incident.ready();
        Incident.untilStdinEnds();
    }
}
