/*
 * incident: Reports are written while they keep a connection, and c3p0 lends two; another thread of it takes them back.
 * names: pool-exhausted ReportPool.report
 * jars: libc3p0-java/c3p0 libh2-java/h2
 */
package libraries;

import com.mchange.v2.c3p0.ComboPooledDataSource;
import incidents.Incident;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

public final class ReportPool {
    private final ComboPooledDataSource pool = new ComboPooledDataSource();

    private ReportPool() {
        pool.setJdbcUrl("jdbc:h2:mem:reports;DB_CLOSE_DELAY=-1");
        pool.setMinPoolSize(2);
        pool.setInitialPoolSize(2);
        pool.setMaxPoolSize(2);
    }

    private void report() throws SQLException {
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            statement.executeQuery("select 1").close();
            Incident.sleep(150);
        }
    }

    private void work() {
        while (true) {
            try {
                report();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) {
        ReportPool reports = new ReportPool();
        for (int i = 0; i < 12; i++) {
            Incident.start("web-" + i, reports::work);
        }
        Incident.sleep(1500);
        Incident.readyUntilTheEnd();
    }
}
