<?php
// bloom in PHP, by its class SQLite3 (Debian: php-cli php-sqlite3).  Run it in the folder of bloom.so:
//     php -d sqlite3.extension_dir=$PWD php_sqlite3.php
$db = new SQLite3(':memory:');
$db->enableExceptions(true);
$db->loadExtension('bloom.so'); // in the folder that sqlite3.extension_dir names, by its whole path
vprintf("SQLite %s, bloom %s\n", $db->querySingle('SELECT sqlite_version(), bloom_version()', true));

// Build a filter of the customers, and store it.
$db->exec("
  CREATE TABLE customers(id INTEGER PRIMARY KEY, country TEXT);
  INSERT INTO customers VALUES (1, 'DE'), (2, 'FR'), (1234567890123456789, 'DE');
  CREATE TABLE sales(customer_id INTEGER, amount INTEGER);
  INSERT INTO sales VALUES (1, 10), (2, 20), (77, 30), (1234567890123456789, 40);
  CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
  INSERT INTO filters SELECT 'customers', bloom_build(id) FROM customers;
");

// The filter is a string of bytes here: bind it as a BLOB, or SQLite takes it for a text.
$filter = $db->querySingle("SELECT filter FROM filters WHERE name = 'customers'");
printf("filter: %d bytes, %s\n", strlen($filter), bin2hex($filter));
$probe = $db->prepare('SELECT bloom_may_contain(?, ?)');
$probe->bindValue(1, $filter, SQLITE3_BLOB);
foreach ([1, 77, 1234567890123456789] as $key) {
  $probe->bindValue(2, $key);
  [$maybe] = $probe->execute()->fetchArray(SQLITE3_NUM);
  printf("%d: %s\n", $key, $maybe ? 'maybe' : 'no');
}

// In a join bloom_open() reads the stored filter once for all rows.
$sales = $db->query("
  SELECT customer_id, amount FROM sales JOIN customers ON id = customer_id
   WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)
   ORDER BY amount");
while ($sale = $sales->fetchArray(SQLITE3_NUM)) vprintf("customer %d: %d\n", $sale);
vprintf("%d of %d sales pass the filter\n", $db->querySingle("
  SELECT sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)),
         count(*) FROM sales", true));

$info = $db->querySingle('SELECT i.* FROM filters, bloom_info(filter) i', true);
printf("%s, %d bytes, %.1f keys, %.2f %% false positives\n",
  $info['encoding'], $info['num_bytes'], $info['estimated_keys'], 100 * $info['measured_fpr']);

try {
  $db->querySingle("SELECT bloom_may_contain('customers', 1)");
} catch (Exception $error) {
  printf("error: %s\n", $db->lastErrorMsg());
}
