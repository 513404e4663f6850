#!/usr/bin/ruby
# bloom in Ruby, by the gem sqlite3 (Debian: ruby-sqlite3).  Run it in the folder of bloom.so:
#     ruby ruby_sqlite3.rb
require 'sqlite3'

db = SQLite3::Database.new(':memory:')
db.enable_load_extension(true)
db.load_extension('./bloom')
db.enable_load_extension(false)
puts format('SQLite %s, bloom %s', *db.get_first_row('SELECT sqlite_version(), bloom_version()'))

# Build a filter of the customers, and store it.
db.execute_batch(<<SQL)
  CREATE TABLE customers(id INTEGER PRIMARY KEY, country TEXT);
  INSERT INTO customers VALUES (1, 'DE'), (2, 'FR'), (1234567890123456789, 'DE');
  CREATE TABLE sales(customer_id INTEGER, amount INTEGER);
  INSERT INTO sales VALUES (1, 10), (2, 20), (77, 30), (1234567890123456789, 40);
  CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
  INSERT INTO filters SELECT 'customers', bloom_build(id) FROM customers;
SQL

# The filter is a String of binary encoding here, which is bound as a BLOB.
filter = db.get_first_value("SELECT filter FROM filters WHERE name = 'customers'")
puts "filter: #{filter.bytesize} bytes, #{filter.unpack1('H*')}"
[1, 77, 1234567890123456789].each do |key|
  maybe = db.get_first_value('SELECT bloom_may_contain(?, ?)', [filter, key])
  puts "#{key}: #{maybe == 1 ? 'maybe' : 'no'}" # 0 is true in Ruby
end

# In a join bloom_open() reads the stored filter once for all rows.
db.execute(<<SQL) { |customer, amount| puts "customer #{customer}: #{amount}" }
  SELECT customer_id, amount FROM sales JOIN customers ON id = customer_id
   WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)
   ORDER BY amount
SQL
puts format('%d of %d sales pass the filter', *db.get_first_row(<<SQL))
  SELECT sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)),
         count(*) FROM sales
SQL

info = db.get_first_row('SELECT encoding, num_bytes, estimated_keys, 100 * measured_fpr FROM filters, bloom_info(filter)')
puts format('%s, %d bytes, %.1f keys, %.2f %% false positives', *info)

begin
  db.execute("SELECT bloom_may_contain('customers', 1)")
rescue SQLite3::Exception => e
  puts "error: #{e.message}"
end
