#!/usr/bin/perl
# bloom in Perl, by DBD::SQLite (Debian: libdbd-sqlite3-perl).  Run it in the folder of bloom.so:
#     perl perl_dbd_sqlite.pl
use strict;
use warnings;
use DBI qw(:sql_types);

my $db = DBI->connect('dbi:SQLite:dbname=:memory:', '', '', { RaiseError => 1, PrintError => 0 });
$db->sqlite_enable_load_extension(1);
$db->sqlite_load_extension('./bloom');
$db->sqlite_enable_load_extension(0);
printf "SQLite %s, bloom %s\n", $db->selectrow_array('SELECT sqlite_version(), bloom_version()');

# Build a filter of the customers, and store it.
$db->{sqlite_allow_multiple_statements} = 1;
$db->do(q{
  CREATE TABLE customers(id INTEGER PRIMARY KEY, country TEXT);
  INSERT INTO customers VALUES (1, 'DE'), (2, 'FR'), (1234567890123456789, 'DE');
  CREATE TABLE sales(customer_id INTEGER, amount INTEGER);
  INSERT INTO sales VALUES (1, 10), (2, 20), (77, 30), (1234567890123456789, 40);
  CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
  INSERT INTO filters SELECT 'customers', bloom_build(id) FROM customers;
});

# The filter is a string of bytes here.  Name both types: unnamed, each would be a text.
my ($filter) = $db->selectrow_array(q{SELECT filter FROM filters WHERE name = 'customers'});
printf "filter: %d bytes, %s\n", length $filter, unpack('H*', $filter);
my $probe = $db->prepare('SELECT bloom_may_contain(?, ?)');
$probe->bind_param(1, $filter, SQL_BLOB);
for my $key (1, 77, 1234567890123456789) {
  $probe->bind_param(2, $key, SQL_INTEGER);
  my ($maybe) = $db->selectrow_array($probe);
  printf "%d: %s\n", $key, $maybe ? 'maybe' : 'no';
}

# In a join bloom_open() reads the stored filter once for all rows.
my $sales = $db->selectall_arrayref(q{
  SELECT customer_id, amount FROM sales JOIN customers ON id = customer_id
   WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)
   ORDER BY amount});
printf "customer %d: %d\n", @$_ for @$sales;
printf "%d of %d sales pass the filter\n", $db->selectrow_array(q{
  SELECT sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)),
         count(*) FROM sales});

my $info = $db->selectrow_hashref('SELECT i.* FROM filters, bloom_info(filter) i');
printf "%s, %d bytes, %.1f keys, %.2f %% false positives\n",
  @$info{qw(encoding num_bytes estimated_keys)}, 100 * $info->{measured_fpr};

eval { $db->selectrow_array("SELECT bloom_may_contain('customers', 1)") };
printf "error: %s\n", $db->errstr if $@;
