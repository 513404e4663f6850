# bloom in Tcl (Debian: libsqlite3-tcl).  Run it in the folder of bloom.so:
#     tclsh tcl_sqlite3.tcl
package require sqlite3

sqlite3 db :memory:
db enable_load_extension 1
db eval {SELECT load_extension('./bloom')}
db enable_load_extension 0
puts [format {SQLite %s, bloom %s} {*}[db eval {SELECT sqlite_version(), bloom_version()}]]

# Build a filter of the customers, and store it.
db eval {
  CREATE TABLE customers(id INTEGER PRIMARY KEY, country TEXT);
  INSERT INTO customers VALUES (1, 'DE'), (2, 'FR'), (1234567890123456789, 'DE');
  CREATE TABLE sales(customer_id INTEGER, amount INTEGER);
  INSERT INTO sales VALUES (1, 10), (2, 20), (77, 30), (1234567890123456789, 40);
  CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
  INSERT INTO filters SELECT 'customers', bloom_build(id) FROM customers;
}

# The filter is a byte array here; @filter binds it as a BLOB whatever was done with it.
# Keys that come from a list are texts to SQLite: CAST makes numbers of them.
set filter [db onecolumn {SELECT filter FROM filters WHERE name = 'customers'}]
puts "filter: [string length $filter] bytes, [binary encode hex $filter]"
foreach key {1 77 1234567890123456789} {
  set maybe [db onecolumn {SELECT bloom_may_contain(@filter, CAST($key AS INTEGER))}]
  puts "$key: [expr {$maybe ? "maybe" : "no"}]"
}

# In a join bloom_open() reads the stored filter once for all rows.
db eval {
  SELECT customer_id, amount FROM sales JOIN customers ON id = customer_id
   WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)
   ORDER BY amount
} {
  puts "customer $customer_id: $amount"
}
puts [format {%d of %d sales pass the filter} {*}[db eval {
  SELECT sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)),
         count(*) FROM sales
}]]

db eval {SELECT i.* FROM filters, bloom_info(filter) i} info {}
puts [format {%s, %d bytes, %.1f keys, %.2f %% false positives} \
  $info(encoding) $info(num_bytes) $info(estimated_keys) [expr {100 * $info(measured_fpr)}]]

try {
  db eval {SELECT bloom_may_contain('customers', 1)}
} on error message {
  puts "error: $message"
}
