import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;

/** H2: accounts, transfers between them, and sums, in memory. */
final class Database implements Programs.Program {
    private static final int ACCOUNTS = 2000;

    private final Connection connection;

    Database() throws SQLException {
        connection = DriverManager.getConnection("jdbc:h2:mem:bank");
    }

    @Override
    public long round() throws SQLException {
        Random random = new Random(42);
        try (Statement statement = connection.createStatement()) {
            statement.execute("drop table if exists account");
            statement.execute("create table account(id int primary key, branch int, owner varchar(40), balance bigint)");
            statement.execute("create index by_branch on account(branch)");
        }
        try (PreparedStatement insert = connection.prepareStatement("insert into account values(?, ?, ?, ?)")) {
            for (int id = 0; id < ACCOUNTS; id++) {
                insert.setInt(1, id);
                insert.setInt(2, id % 20);
                insert.setString(3, "owner " + random.nextInt(500));
                insert.setLong(4, 1000 + random.nextInt(1000));
                insert.executeUpdate();
            }
        }
        try (PreparedStatement move = connection.prepareStatement("update account set balance = balance + ? where id = ?")) {
            for (int i = 0; i < 3000; i++) {
                int amount = random.nextInt(100);
                for (int sign = -1; sign <= 1; sign += 2) {
                    move.setLong(1, (long) sign * amount);
                    move.setInt(2, random.nextInt(ACCOUNTS));
                    move.executeUpdate();
                }
            }
        }
        return sums();
    }

    private long sums() throws SQLException {
        long hash = 0;
        String[] queries = {
            "select branch, sum(balance) from account group by branch order by branch",
            "select owner, count(*) from account where balance > 1500 group by owner having count(*) > 1 order by owner",
            "select a.branch, count(*) from account a join account b on a.owner = b.owner where a.id < b.id group by a.branch",
        };
        try (Statement statement = connection.createStatement()) {
            for (String query : queries) {
                try (ResultSet rows = statement.executeQuery(query)) {
                    while (rows.next()) {
                        hash = hash * 31 + rows.getString(1).hashCode() + rows.getLong(2);
                    }
                }
            }
        }
        return hash;
    }
}
