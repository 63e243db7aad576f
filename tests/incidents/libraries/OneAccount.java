/*
 * incident: Every payment changes the row of one account and commits only after the receipt is written.
 * names: transaction-lock OneAccount.pay
 * jars: libh2-java/h2
 */
package libraries;

import incidents.Incident;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;

public final class OneAccount {
    private static final String URL = "jdbc:h2:mem:bank;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=60000";

    private static void pay(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("update account set amount = amount + 1 where id = 1");
            receipt();
            connection.commit();
        }
    }

    private static void receipt() {
        Incident.sleep(60);
    }

    private static void work() {
        try (Connection connection = DriverManager.getConnection(URL)) {
            connection.setAutoCommit(false);
            while (true) {
                pay(connection);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws SQLException {
        try (Connection connection = DriverManager.getConnection(URL); Statement statement = connection.createStatement()) {
            statement.execute("create table account(id int primary key, amount int)");
            statement.execute("insert into account values(1, 0)");
        }
        for (int i = 0; i < 9; i++) {
            Incident.start("payment-" + i, OneAccount::work);
        }
        Incident.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
