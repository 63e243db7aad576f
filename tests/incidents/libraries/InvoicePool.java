/*
 * incident: Each invoice keeps its connection while the print service is asked, and HikariCP has three.
 * names: pool-exhausted InvoicePool.store
 * jars: libhikaricp-java/HikariCP libh2-java/h2 libslf4j-java/slf4j-api libslf4j-java/slf4j-nop
 */
package libraries;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import incidents.Incident;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

public final class InvoicePool {
    private final HikariDataSource pool;

    private InvoicePool() throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:mem:invoices;DB_CLOSE_DELAY=-1");
        config.setMaximumPoolSize(3);
        pool = new HikariDataSource(config);
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            statement.execute("create table invoice(id bigint)");
        }
    }

    private void store(long id) throws SQLException {
        try (Connection connection = pool.getConnection();
            PreparedStatement statement = connection.prepareStatement("insert into invoice values(?)")) {
            statement.setLong(1, id);
            statement.executeUpdate();
            print();
        }
    }

    private void print() {
        Incident.sleep(120);
    }

    private void work() {
        for (long id = 0;; id++) {
            try {
                store(id);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws SQLException {
        InvoicePool invoices = new InvoicePool();
        for (int i = 0; i < 15; i++) {
            Incident.start("invoice-" + i, invoices::work);
        }
        Incident.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
