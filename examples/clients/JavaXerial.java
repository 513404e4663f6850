// bloom in Java, by xerial's JDBC driver (Debian: libxerial-sqlite-jdbc-java).  Run it in the
// folder of bloom.so:
//     java -cp /usr/share/java/sqlite-jdbc.jar JavaXerial.java
// Newer versions of the driver want slf4j-api.jar on the class path as well.
import java.sql.*;
import java.util.HexFormat;
import org.sqlite.SQLiteConfig;

class JavaXerial {
  public static void main(String[] args) throws SQLException {
    SQLiteConfig config = new SQLiteConfig();
    config.enableLoadExtension(true);
    try (Connection db = config.createConnection("jdbc:sqlite::memory:"); Statement sql = db.createStatement()) {
      sql.execute("SELECT load_extension('./bloom')");
      try (ResultSet version = sql.executeQuery("SELECT sqlite_version(), bloom_version()")) {
        System.out.printf("SQLite %s, bloom %s%n", version.getString(1), version.getString(2));
      }

      // Build a filter of the customers, and store it.
      sql.executeUpdate("""
          CREATE TABLE customers(id INTEGER PRIMARY KEY, country TEXT);
          INSERT INTO customers VALUES (1, 'DE'), (2, 'FR'), (1234567890123456789, 'DE');
          CREATE TABLE sales(customer_id INTEGER, amount INTEGER);
          INSERT INTO sales VALUES (1, 10), (2, 20), (77, 30), (1234567890123456789, 40);
          CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
          INSERT INTO filters SELECT 'customers', bloom_build(id) FROM customers;
          """);

      // The filter is a byte[] here, to read and to bind.
      byte[] filter;
      try (ResultSet stored = sql.executeQuery("SELECT filter FROM filters WHERE name = 'customers'")) {
        filter = stored.getBytes(1);
      }
      System.out.printf("filter: %d bytes, %s%n", filter.length, HexFormat.of().formatHex(filter));
      try (PreparedStatement probe = db.prepareStatement("SELECT bloom_may_contain(?, ?)")) {
        probe.setBytes(1, filter);
        for (long key : new long[] {1, 77, 1234567890123456789L}) {
          probe.setLong(2, key);
          try (ResultSet answer = probe.executeQuery()) {
            System.out.printf("%d: %s%n", key, answer.getBoolean(1) ? "maybe" : "no");
          }
        }
      }

      // In a join bloom_open() reads the stored filter once for all rows.
      try (ResultSet sales = sql.executeQuery("""
          SELECT customer_id, amount FROM sales JOIN customers ON id = customer_id
           WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)
           ORDER BY amount""")) {
        while (sales.next()) System.out.printf("customer %d: %d%n", sales.getLong(1), sales.getLong(2));
      }
      try (ResultSet sales = sql.executeQuery("""
          SELECT sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)),
                 count(*) FROM sales""")) {
        System.out.printf("%d of %d sales pass the filter%n", sales.getLong(1), sales.getLong(2));
      }

      try (ResultSet info = sql.executeQuery("SELECT i.* FROM filters, bloom_info(filter) i")) {
        System.out.printf("%s, %d bytes, %.1f keys, %.2f %% false positives%n", info.getString("encoding"),
            info.getLong("num_bytes"), info.getDouble("estimated_keys"), 100 * info.getDouble("measured_fpr"));
      }

      try {
        sql.executeQuery("SELECT bloom_may_contain('customers', 1)");
      } catch (SQLException error) { // "[SQLITE_ERROR] SQL error or missing database (what SQLite says)"
        System.out.println("error: " + error.getMessage().replaceFirst("^\\[.*?\\] .*? database \\((.*)\\)$", "$1"));
      }
    }
  }
}
