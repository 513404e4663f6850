#!/usr/bin/env tclsh
# Runs the ready-made SQL in sql/ as a program would, each file on a database of its
# own that trusts no schema, and twice, which must change nothing.
#
#   tclsh test/sql/ready_made.tcl ?EXTENSION ?SQLITE??      default: ./bloom
#
# SQLITE is the Tcl package (a tclsqlite3.so) of another SQLite than the system's.
#
# Prints `N passed, N failed` last; exit status 1 if any failed.

package require Tcl 8.6
if {$argc > 1} {load [lindex $argv 1] Sqlite3} else {package require sqlite3}

set extension [file normalize [expr {$argc ? [lindex $argv 0] : "./bloom"}]]
set sql_folder [file join [file dirname [file normalize [info script]]] .. .. sql]
set num_passed 0
set num_failed 0

# A new database; SCHEMA is run before the files.
proc fresh {schema args} {
    catch {db close}
    sqlite3 db :memory:
    db enable_load_extension 1
    db eval {SELECT load_extension($::extension)}
    db eval {PRAGMA trusted_schema = OFF}
    db eval $schema
    foreach name $args { db eval [script $name] }
}

proc script {name} {
    set channel [open [file join $::sql_folder $name.sql]]
    set text [read $channel]
    close $channel
    # What only the shell knows is no SQL.
    if {[regexp -line {^\s*\.} $text line]} { error "$name.sql has a shell command: $line" }
    return $text
}

proc check {what expected sql} {
    if {[catch {db eval $sql} result]} { set result "error: $result" }
    if {$result eq $expected || [string match "error: *\*" $expected] && [string match $expected $result]} {
        incr ::num_passed
    } else {
        incr ::num_failed
        puts "FAIL $what\n  expected $expected\n  got      $result"
    }
}

set numbers {WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < CAST($n AS INTEGER))}

# ---------------------------------------------------------------- many_filters.sql

fresh {CREATE TABLE orders(shard INTEGER, key)} many_filters
set n 60000
db eval "$numbers INSERT INTO orders SELECT i % 20, 'o' || i FROM c"
db eval {INSERT INTO orders SELECT 100 + i % 3, 'few' || i FROM (SELECT key, row_number() OVER () AS i FROM orders LIMIT 300)}
db eval {INSERT INTO orders VALUES (3, NULL)}
# The statement in the file's head, for a batch.
set fill_batch {
    INSERT INTO shard_file
    SELECT b.batch * 1000000 + bloom_partition(o.key, b.num_partitions),
           bloom_build_sets(n.set_number, o.key, 10, b.capacity)
    FROM shard_batch AS b JOIN shard_name AS n USING (batch) JOIN orders AS o USING (shard)
    WHERE b.batch = 3 AND o.key IS NOT NULL GROUP BY 1;
}
set one_key {
    SELECT n.shard
    FROM shard_batch AS b CROSS JOIN shard_file AS f ON f.id = b.batch * 1000000 + bloom_partition(?1, b.num_partitions)
    CROSS JOIN bloom_sets(f.file, ?1) AS s CROSS JOIN shard_name AS n ON n.batch = b.batch AND n.set_number = s.set_number;
}
foreach statement [list $fill_batch $one_key] {
    set written [regsub -all {\s+} [regsub -all -line {^--} [script many_filters] {}] { }]
    check {many filters: the head says what is tested} 1 \
        "SELECT [expr {[string first [string trim [regsub -all {\s+} $statement { }]] $written] >= 0}]"
}
# 20 shards of 3,000 keys, and 3 of 100 in a batch of their own.
db eval {
    INSERT INTO shard_batch VALUES (3, 150, 21), (4, 5, 21);
    INSERT INTO shard_name SELECT DISTINCT shard, 'shard ' || shard, 3, shard FROM orders WHERE shard < 100;
    INSERT INTO shard_name SELECT DISTINCT shard, 'shard ' || shard, 4, shard - 100 FROM orders WHERE shard >= 100;
}
foreach batch {3 4} {db eval [string map [list "= 3" "= $batch"] $fill_batch]}
check {many filters: a file a batch and partition} {155 876 876} {
    SELECT count(*), min(length(file)), max(length(file)) FROM shard_file}
db eval {INSERT INTO shard_asked SELECT key FROM orders WHERE shard = 3; INSERT INTO shard_asked VALUES ('absent'), ('few7')}
check {many filters: each key is in its shard} {3000 1 1} {
    SELECT sum(shard = 3), sum(shard <> 3) < 3000 * 22 * 0.013, sum(key = 'few7' AND shard = 101) FROM shard_lookup}
check {many filters: what is nowhere} 0 {SELECT count(*) FROM shard_lookup WHERE key = 'absent' OR key IS NULL}
check {many filters: one key} 5 [string map {?1 'o5'} $one_key]
set plan [db eval {EXPLAIN QUERY PLAN SELECT * FROM shard_lookup}]
check {many filters: a look-up reads a file of each batch, then the names} 1 \
    "SELECT [regexp {SEARCH.*USING INTEGER PRIMARY KEY \(rowid=\?\).*VIRTUAL TABLE.*SEARCH.*batch=\? AND set_number=\?} $plan]"
# A shard that has changed comes again; what was said of it before no longer counts.
db eval {
    DELETE FROM orders WHERE shard = 3 AND key <> 'o23';
    INSERT INTO orders VALUES (3, 'new');
    INSERT INTO shard_batch VALUES (5, 1, 30);
    INSERT OR REPLACE INTO shard_name VALUES (3, 'shard 3, again', 5, 0);
}
db eval [string map {"= 3" "= 5"} $fill_batch]
check {many filters: a shard that has changed} {3 {}} "
    SELECT ([string map {?1 'new' \; {}} $one_key]), (SELECT group_concat(shard) FROM shard_lookup WHERE shard = 3 AND key = 'o43')"
check {many filters: its name} {{shard 3, again}} {SELECT name FROM shard_lookup WHERE key = 'o23' AND shard = 3}
# All shards in one batch again; the empty ones go.
db eval {
    INSERT INTO shard_batch VALUES (6, 150, 21);
    UPDATE shard_name SET batch = 6, set_number = shard;
}
db eval [string map {"= 3" "= 6"} $fill_batch]
db eval {
    DELETE FROM shard_batch WHERE batch NOT IN (SELECT batch FROM shard_name);
    DELETE FROM shard_file WHERE id / 1000000 NOT IN (SELECT batch FROM shard_batch);
}
check {many filters: one batch again} {6 150 3 101} "
    SELECT (SELECT group_concat(batch) FROM shard_batch), (SELECT count(*) FROM shard_file), ([string map {?1 'new' \; {}} $one_key]),
      ([string map {?1 'few7' \; {}} $one_key])"
db eval [script many_filters]
check {many filters: read again over what is there} 150 {SELECT count(*) FROM shard_file}

# ------------------------------------------------------------------- star_join.sql

fresh {
    CREATE TABLE customer(id INTEGER PRIMARY KEY, country TEXT);
    CREATE TABLE product(id INTEGER PRIMARY KEY, is_organic INTEGER);
    CREATE TABLE sales(customer_id, product_id, amount INTEGER);
} star_join star_join
set n 2000
db eval "$numbers INSERT INTO customer SELECT i, CASE WHEN i % 50 THEN 'AU' ELSE 'NZ' END FROM c"
db eval "$numbers INSERT INTO product SELECT i, i % 20 = 0 FROM c"
set n 50000
db eval "$numbers INSERT INTO sales SELECT i * 7919 % 2000 + 1, i * 104729 % 1999 + 1, i FROM c"
check {star join: without filters nothing is dropped} 50000 {SELECT count(*) FROM sales_pruned}
db eval {
    BEGIN;
    DELETE FROM star_filter;
    INSERT INTO star_filter SELECT 'customer', bloom_build(id) FROM customer WHERE country = 'NZ';
    INSERT INTO star_filter SELECT 'product', bloom_build(id) FROM product WHERE is_organic;
    COMMIT;
}
set question {
    SELECT count(*), sum(amount) FROM %s AS s
    JOIN customer AS c ON c.id = s.customer_id JOIN product AS p ON p.id = s.product_id
    WHERE c.country = 'NZ' AND p.is_organic
}
check {star join: the same answer} [db eval [format $question sales]] [format $question sales_pruned]
# MATERIALIZED is of SQLite 3.35.
set materialized [expr {[package vcompare [db eval {SELECT sqlite_version()}] 3.35] < 0 ? {} : {MATERIALIZED}}]
check {star join: filters that the query makes} [db eval [format $question sales]] "
    WITH c AS $materialized (SELECT id FROM customer WHERE country = 'NZ'),
         p AS $materialized (SELECT id FROM product WHERE is_organic)
    SELECT count(*), sum(amount) FROM sales AS s CROSS JOIN c ON c.id = s.customer_id CROSS JOIN p ON p.id = s.product_id
    WHERE bloom_may_contain((SELECT bloom_filter(id) FROM c), s.customer_id)
      AND bloom_may_contain((SELECT bloom_filter(id) FROM p), s.product_id)
"
# In the program that SQLite runs, both filters stand before the first look-up by rowid.
set filters_before 0
db eval "EXPLAIN [format $question sales_pruned]" row {
    if {$row(opcode) in {SeekRowid NotExists}} break
    incr filters_before [string match bloom_may_contain* $row(p4)]
}
check {star join: filters come before look-ups} 2 "SELECT $filters_before"
check {star join: few rows are left to join} 1 {SELECT count(*) BETWEEN 40 AND 150 FROM sales_pruned}
db eval {INSERT INTO sales VALUES (NULL, NULL, 1)}
check {star join: NULL is left to the join} 1 {SELECT count(*) FROM sales_pruned WHERE customer_id IS NULL}
db eval {DELETE FROM star_filter WHERE dimension = 'product'}
check {star join: a dimension without a filter prunes nothing} 1 {
    SELECT count(*) BETWEEN 1000 AND 2500 FROM sales_pruned}
check {star join: nothing is left for another connection} 0 {
    SELECT count(*) FROM sqlite_master WHERE name IN ('star_filter', 'sales_pruned')}
check {star join: a dimension that no condition asks for} {error: CHECK constraint failed*} {
    INSERT INTO star_filter VALUES ('customers', bloom_empty(1))}

db close
puts "$num_passed passed, $num_failed failed"
exit [expr {$num_failed > 0}]
