package jtrace.bench;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.Random;

/** H2: a bank in memory, with transfers between accounts, each a transaction, and reports. The scale is thousands of transfers. */
final class H2Work implements Work {
    private static final int ACCOUNTS = 2000;
    private static final int BRANCHES = 20;
    private static final long DEPOSIT = 1000;

    private Connection connection;
    private int transfers;
    private long reported;

    @Override
    public void setUp(int scale) throws SQLException {
        transfers = scale * 1000;
        connection = DriverManager.getConnection("jdbc:h2:mem:bank");
        connection.setAutoCommit(false);
    }

    @Override
    public void iterate() throws SQLException {
        open();
        Random random = new Random(42);
        reported = 0;
        try (PreparedStatement change = connection.prepareStatement("update account set balance = balance + ? where id = ?");
            PreparedStatement note = connection.prepareStatement("insert into history values(?, ?, ?, ?)")) {
            for (int i = 0; i < transfers; i++) {
                int from = random.nextInt(ACCOUNTS);
                int to = random.nextInt(ACCOUNTS);
                long amount = random.nextInt(100);
                change(change, from, -amount);
                change(change, to, amount);
                note.setInt(1, i);
                note.setInt(2, from);
                note.setInt(3, to);
                note.setLong(4, amount);
                note.executeUpdate();
                connection.commit();
                if (i % 500 == 499) {
                    report(i - 499);
                }
            }
        }
    }

    private void open() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("drop all objects");
            statement.execute("create table account(id int primary key, branch int, owner varchar(40), balance bigint)");
            statement.execute("create index of_branch on account(branch)");
            statement.execute("create table history(id int primary key, payer int, payee int, amount bigint)");
            statement.execute("create index of_payer on history(payer)");
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into account values(?, ?, ?, ?)")) {
            for (int id = 0; id < ACCOUNTS; id++) {
                insert.setInt(1, id);
                insert.setInt(2, id % BRANCHES);
                insert.setString(3, "owner " + id % 500);
                insert.setLong(4, DEPOSIT);
                insert.executeUpdate();
            }
        }
        connection.commit();
    }

    private static void change(PreparedStatement change, int account, long amount) throws SQLException {
        change.setLong(1, amount);
        change.setInt(2, account);
        change.executeUpdate();
    }

    private void report(int since) throws SQLException {
        String[] queries = {
            "select branch, sum(balance) from account group by branch order by branch",
            "select owner, count(*) from account where balance > 1000 group by owner having count(*) > 1 order by owner",
            "select a.branch, sum(h.amount) from history h join account a on h.payer = a.id where h.id >= "
                + since + " group by a.branch order by 1",
        };
        for (String query : queries) {
            try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(query)) {
                while (rows.next()) {
                    reported = reported * 31 + rows.getString(1).hashCode() + rows.getLong(2);
                }
            }
        }
    }

    @Override
    public long check(Map<String, Long> counts) throws Exception {
        Wrong.unless("as the sum of all balances", number("select sum(balance) from account"), ACCOUNTS * DEPOSIT);
        Wrong.unless("lines of history", number("select count(*) from history"), transfers);
        Wrong.unless("branches", number("select count(distinct branch) from account"), BRANCHES);
        counts.put("transfers", (long) transfers);
        return reported;
    }

    private long number(String query) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(query)) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
