#!/usr/bin/env tclsh
# Runs the ready-made SQL in sql/ as a program would, each file on a database of its
# own that trusts no schema, and twice, which must change nothing.
#
#   tclsh test/ready_made.tcl ?EXTENSION ?SQLITE??      default: ./bloom
#
# SQLITE is the Tcl package (a tclsqlite3.so) of another SQLite than the system's.
#
# Prints `N passed, N failed` last; exit status 1 if any failed.

package require Tcl 8.6
if {$argc > 1} {load [lindex $argv 1] Sqlite3} else {package require sqlite3}

set extension [file normalize [expr {$argc ? [lindex $argv 0] : "./bloom"}]]
set sql_folder [file join [file dirname [file normalize [info script]]] .. sql]
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

# ------------------------------------------------------------- filter_registry.sql

fresh {CREATE TABLE users(id INTEGER PRIMARY KEY, email TEXT)} filter_registry
set n 1000
db eval "$numbers INSERT INTO users SELECT i, 'u' || i FROM c"
# The statement in the file's head.
db eval {
    INSERT OR REPLACE INTO bloom_filter(name, table_name, column_name, bits_per_key, capacity, num_keys, filter)
    SELECT 'users.email', 'users', 'email', 10, 2 * size.n, size.n, bloom_build(email, 10, 2 * size.n)
    FROM (SELECT count(email) AS n FROM users) AS size LEFT JOIN users;
}
check {registry: a new filter is good} {users.email 2000 1000 2501 good {}} {
    SELECT name, capacity, num_keys, num_bytes, verdict, note FROM bloom_filter_status}
check {registry: no key is missed} 1000 {
    SELECT sum(bloom_may_contain(filter, email)) FROM users, bloom_filter}
db eval {UPDATE bloom_filter SET num_removed = 201}
check {registry: stale} stale {SELECT verdict FROM bloom_filter_status}
db eval {UPDATE bloom_filter SET num_removed = 200}
check {registry: not yet stale} good {SELECT verdict FROM bloom_filter_status}
db eval {UPDATE bloom_filter SET num_added = 1001}
check {registry: saturated} saturated {SELECT verdict FROM bloom_filter_status}
db eval {UPDATE bloom_filter SET num_added = 0, num_removed = 0, filter = zeroblob(100)}
check {registry: no probes} unreadable {SELECT verdict FROM bloom_filter_status}
db eval {UPDATE bloom_filter SET filter = x'00ff'}
check {registry: reserved encoding} unreadable {SELECT verdict FROM bloom_filter_status}
db eval {UPDATE bloom_filter SET filter = x''}
check {registry: too short} unreadable {SELECT verdict FROM bloom_filter_status}
db eval [script filter_registry]
check {registry: reading it again changes nothing} 1 {SELECT count(*) FROM bloom_filter}

# -------------------------------------------------------- maintenance_triggers.sql

fresh {CREATE TABLE users(id INTEGER PRIMARY KEY, email TEXT)} filter_registry maintenance_triggers
check {triggers: an empty table gets a filter} {1000 0 good} {
    SELECT capacity, num_keys, verdict FROM bloom_filter_status}
set n 700
db eval "$numbers INSERT INTO users SELECT i, 'u' || i FROM c"
check {triggers: INSERT} {1000 0 700 0 700} {
    SELECT capacity, num_keys, num_added, num_removed, sum(bloom_may_contain(filter, email)) FROM users, bloom_filter}
check {triggers: the bytes of one build} 1 {
    SELECT filter = (SELECT bloom_build(email, 10, 1000) FROM users) FROM bloom_filter}
db eval {INSERT INTO users VALUES (9999, NULL); UPDATE users SET email = NULL WHERE id = 9999; DELETE FROM users WHERE id = 9999}
check {triggers: NULL is no key} {700 0} {SELECT num_added, num_removed FROM bloom_filter}
db eval {UPDATE users SET email = email}
check {triggers: an UPDATE to the same is none} {700 0} {SELECT num_added, num_removed FROM bloom_filter}
db eval {UPDATE users SET email = 'v' || id WHERE id <= 150}
check {triggers: UPDATE} {850 150 700} {
    SELECT num_added, num_removed, (SELECT sum(bloom_may_contain(filter, email)) FROM users) FROM bloom_filter}
db eval {DELETE FROM users WHERE id > 650}
check {triggers: DELETE} {850 200 650} {
    SELECT num_added, num_removed, (SELECT sum(bloom_may_contain(filter, email)) FROM users) FROM bloom_filter}
db eval {DELETE FROM users WHERE id = 650}
check {triggers: a rebuild past a fifth} {649 0 0 1} {
    SELECT num_keys, num_added, num_removed, filter = (SELECT bloom_build(email, 10, 1298) FROM users) FROM bloom_filter}
db eval {CREATE TABLE more AS SELECT id FROM users; INSERT INTO users SELECT id + 1000, 'w' || id FROM more;}
set n 3000
db eval "$numbers INSERT INTO users SELECT i + 5000, 'x' || i FROM c"
check {triggers: rebuilt larger past capacity} {good 1 4298} {
    SELECT verdict, capacity >= (SELECT count(*) FROM users),
      (SELECT sum(bloom_may_contain(filter, email)) FROM users, bloom_filter) FROM bloom_filter_status}
db eval {PRAGMA recursive_triggers = ON; DELETE FROM users}
check {triggers: the last row may go} 1 {SELECT num_keys + num_added - num_removed = 0 FROM bloom_filter}
db eval [script maintenance_triggers]
check {triggers: reading it again changes nothing} {1 0} {SELECT count(*), (SELECT count(*) FROM users) FROM bloom_filter}

# The table may have columns of the names that the scripts use.
fresh {CREATE TABLE users(email TEXT, n, num_keys, capacity, filter, name, num_added, num_removed, size);
       INSERT INTO users VALUES ('a@b', 1, 1, 1, 1, 1, 1, 1, 1)} filter_registry maintenance_triggers
set n 1500
db eval "$numbers INSERT INTO users SELECT i, i, i, i, i, i, i, i, i FROM c"
check {triggers: any column names} {good 1501} {
    SELECT verdict, (SELECT sum(bloom_may_contain(f.filter, email)) FROM users, bloom_filter AS f) FROM bloom_filter_status}

# ---------------------------------------------------------- partitioned_filter.sql

fresh {CREATE TABLE seen(id INTEGER PRIMARY KEY, key)}
set n 20000
db eval "$numbers INSERT INTO seen SELECT i, 'k' || i FROM c"
db eval [script partitioned_filter]
check {partitions: all keys are in} {1024 20000 3001} {
    SELECT count(*), sum(num_keys), max(length(filter)) FROM seen_part}
check {partitions: a row fits its page} 1 {
    SELECT max(length(filter)) + 20 < page_size - 35 FROM seen_part, pragma_page_size}
db eval {INSERT INTO seen_asked SELECT key FROM seen; INSERT INTO seen_asked VALUES ('absent'), (NULL)}
check {partitions: no wrong no} {0 20000 0} {
    SELECT sum(may_be_seen) FROM seen_lookup WHERE key IS NULL UNION ALL
    SELECT sum(may_be_seen) FROM seen_lookup WHERE key GLOB 'k*' UNION ALL
    SELECT sum(may_be_seen) FROM seen_lookup WHERE key = 'absent'}
db eval {DELETE FROM seen_asked}
db eval {INSERT INTO seen VALUES (30000, 'new'), (30001, NULL); UPDATE seen SET key = 'renamed' WHERE id = 1}
check {partitions: INSERT and UPDATE} {1 1 20002 1} {
    SELECT (SELECT bloom_may_contain(filter, 'new') FROM seen_part WHERE part = bloom_partition('new', 1024)),
      (SELECT bloom_may_contain(filter, 'renamed') FROM seen_part WHERE part = bloom_partition('renamed', 1024)),
      sum(num_keys), sum(num_removed) FROM seen_part}
# 500 keys of one partition: then all but 50 go.
set n 512000
db eval "$numbers INSERT INTO seen SELECT NULL, i FROM c WHERE bloom_partition(i, 1024) = 7"
db eval {DELETE FROM seen WHERE typeof(key) = 'integer' AND key > 50000}
check {partitions: a rebuild of one partition} {1 1 1} {
    SELECT num_removed < 400, num_keys < 500,
      (SELECT min(bloom_may_contain(p.filter, key)) FROM seen WHERE bloom_partition(key, 1024) = 7)
    FROM seen_part AS p WHERE part = 7}
check {partitions: the counts add up} 1 {
    SELECT sum(num_keys - num_removed) = (SELECT count(key) FROM seen) FROM seen_part}
set plan [db eval {EXPLAIN QUERY PLAN SELECT bloom_build(key, 12, 2000)
    FROM (SELECT 1) LEFT JOIN seen ON bloom_partition(key, 1024) = 7}]
check {partitions: a rebuild reads the index} 1 "SELECT [string match {*USING INDEX seen_by_part*} $plan]"
regexp {INSERT OR REPLACE INTO seen_part.*?;} [script partitioned_filter] fill
set plan [db eval "EXPLAIN QUERY PLAN $fill"]
check {partitions: filling them reads the table in order} 1 \
    "SELECT [string match {*SCAN *seen*} $plan] AND NOT [string match {*INDEX*} $plan]"
db eval {DELETE FROM seen}
check {partitions: all keys may go} 0 {SELECT sum(num_keys - num_removed) FROM seen_part}
db eval [script partitioned_filter]

# ------------------------------------------ triggers under every way to change a table

# A statement's conflict policy holds in the triggers that it fires, too; REPLACE deletes
# rows without firing DELETE triggers; a collation may hide that a key changed, and a key
# may change without being named.  So each change is made in two databases, one of them
# without a filter: rows and errors must be the same in both, and no key may be missed.

# NAME is the column written to.  A digit stands for #, another one for each POLICY;
# keys #00 to #99 are there.
set changes {
    {INSERT POLICY INTO t(NAME) VALUES (9#01), (9#02), (#05), (9#03)}
    {INSERT POLICY INTO t(NAME) VALUES ('0#06'), (9#04)}
    {INSERT POLICY INTO t(NAME) VALUES ('9#05.0'), (NULL)}
    {INSERT POLICY INTO t(NAME) VALUES ('x#'), ('y#')}
    {UPDATE POLICY t SET NAME = NAME + 8000 WHERE NAME BETWEEN #10 AND #14}
    {UPDATE POLICY t SET NAME = #20 WHERE NAME = #21}
    {UPDATE POLICY t SET NAME = NAME + 1 WHERE NAME BETWEEN #30 AND #34}
    {UPDATE POLICY t SET NAME = upper(NAME) WHERE NAME = 'x#'}
    {UPDATE POLICY t SET NAME = NULL WHERE NAME = #41}
    {UPDATE POLICY t SET rowid = 9#50 WHERE NAME = #50}
    {UPDATE POLICY t SET rowid = (SELECT rowid FROM t WHERE NAME = #52) WHERE NAME = #51}
    {UPDATE POLICY t SET other = 1, NAME = NAME WHERE NAME BETWEEN #60 AND #69}
    {INSERT POLICY INTO t(NAME) VALUES (#70), (9#71) ON CONFLICT DO NOTHING}
    {INSERT POLICY INTO t(NAME) VALUES (#72), (9#72) ON CONFLICT(NAME) DO UPDATE SET NAME = excluded.NAME + 5000}
    {INSERT POLICY INTO t(NAME) SELECT NAME + 1 FROM t WHERE NAME BETWEEN #74 AND #76}
    {REPLACE INTO t(NAME) VALUES (#77), (9#77)}
    {DELETE FROM t WHERE NAME BETWEEN #80 AND #99}
}

# A database with 600 keys in a table t.
proc table_of_keys {database schema name recursive} {
    $database eval "$schema; PRAGMA recursive_triggers = $recursive;
        WITH RECURSIVE c(i) AS (VALUES (100) UNION ALL SELECT i + 1 FROM c WHERE i < 699)
        INSERT INTO t($name) SELECT i FROM c"
}

# What goes wrong with the filter of t.key that FILES make.  MISSED counts keys that the
# filter does not have; COUNTED gives the keys that its counts tell of.
proc wrongs {schema name recursive files missed counted} {
    fresh ""
    catch {plain close}
    sqlite3 plain :memory:
    table_of_keys db $schema $name $recursive
    table_of_keys plain $schema $name $recursive
    foreach file $files { db eval $file }
    set rows {SELECT quote(key) FROM t ORDER BY 1}
    set wrong {}
    set num_errors 0
    set digit 0
    foreach policy {{} {OR ABORT} {OR FAIL} {OR IGNORE} {OR REPLACE} {OR ROLLBACK}} {
        incr digit
        set number 0
        foreach change $::changes {
            set change [string map [list POLICY $policy NAME $name # $digit] $change]
            # A row before it in the transaction, to see what is rolled back.
            incr number
            foreach database {db plain} {
                set error($database) ""
                catch {$database eval "BEGIN; INSERT INTO t($name) VALUES (77000 + 100*$digit + $number); $change"} \
                    error($database)
                catch {$database eval COMMIT}
            }
            incr num_errors [expr {$error(plain) ne ""}]
            if {$error(db) ne $error(plain)} { lappend wrong "$change: $error(db)" }
            if {[db eval $rows] ne [plain eval $rows]} { lappend wrong "$change: other rows" }
            if {[set num_missed [db eval $missed]]} { lappend wrong "$change: $num_missed keys missed" }
        }
    }
    # With recursive_triggers REPLACE tells what it deletes.
    set surplus [expr {[db eval $counted] - [plain eval {SELECT count(key) FROM t}]}]
    if {$surplus < 0 || $surplus > 0 && $recursive eq "ON"} { lappend wrong "$surplus keys counted too many" }
    if {$num_errors < 5} { lappend wrong "only $num_errors changes failed without a filter" }
    # The first of them; most others follow from it.
    return [join [lrange $wrong 0 2] "\n           "]
}

# Small numbers, so that rebuilds are among what happens.
set small_registry [string map {{users.email} t.key {'users'} {'t'} {'email'} {'key'} users t email key \
    max(1000, max(10,} [list [script filter_registry] [script maintenance_triggers]]]
set small_partitions [string map {seen t 1024 4 {>= 400} {>= 4}} [list [script partitioned_filter]]]
set missed_by_registry {SELECT count(*) FROM t, bloom_filter WHERE bloom_may_contain(filter, key) = 0}
set missed_by_partitions {
    SELECT count(*) FROM t WHERE key IS NOT NULL AND NOT coalesce(
        (SELECT bloom_may_contain(filter, key) FROM t_part WHERE part = bloom_partition(key, 4)), 0)}
foreach {what schema name} {
    {no affinity}    {CREATE TABLE t(id INTEGER PRIMARY KEY, key UNIQUE, other)} key
    {TEXT}           {CREATE TABLE t(key TEXT PRIMARY KEY, other) WITHOUT ROWID} key
    {NOCASE}         {CREATE TABLE t(key TEXT COLLATE NOCASE UNIQUE, other)} key
    {INTEGER}        {CREATE TABLE t(key INTEGER NOT NULL DEFAULT 7777 UNIQUE, other)} key
    {REAL}           {CREATE TABLE t(key REAL UNIQUE, other)} key
    {rowid}          {CREATE TABLE t(key INTEGER PRIMARY KEY, other)} key
    {generated}      {CREATE TABLE t(id INTEGER PRIMARY KEY, name UNIQUE, key AS (name || '.'), other)} name
    {REPLACE}        {CREATE TABLE t(key UNIQUE ON CONFLICT REPLACE, other)} key
    {IGNORE}         {CREATE TABLE t(key NOT NULL UNIQUE ON CONFLICT IGNORE, other)} key
} {
    foreach recursive {OFF ON} {
        set wrong [wrongs $schema $name $recursive $small_registry $missed_by_registry \
            {SELECT num_keys + num_added - num_removed FROM bloom_filter}]
        check "triggers: any change, key column $what, recursive_triggers $recursive" {{}} {SELECT $::wrong}
        set wrong [wrongs $schema $name $recursive $small_partitions $missed_by_partitions \
            {SELECT sum(num_keys - num_removed) FROM t_part}]
        check "partitions: any change, key column $what, recursive_triggers $recursive" {{}} {SELECT $::wrong}
    }
}
plain close

# What others write while a file is read: between any two of its statements.
proc missed_between_statements {files missed} {
    fresh ""
    table_of_keys db {CREATE TABLE t(key UNIQUE)} key OFF
    set statement ""
    set number 0
    foreach line [split [join $files "\n"] "\n"] {
        append statement $line "\n"
        if {![db complete $statement]} continue
        db eval $statement
        db eval {INSERT INTO t VALUES (1000 + $number); UPDATE t SET key = 2000 + $number WHERE key = 100 + $number}
        set statement ""
        incr number
    }
    return [db eval $missed]
}
check {triggers: rows inserted while they are made} 0 \
    "SELECT [missed_between_statements $small_registry $missed_by_registry]"
check {partitions: rows inserted while they are made} 0 \
    "SELECT [missed_between_statements $small_partitions $missed_by_partitions]"

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
check {star join: filters that the query builds} [db eval [format $question sales]] {
    SELECT count(*), sum(amount) FROM sales AS s
    JOIN customer AS c ON c.id = s.customer_id JOIN product AS p ON p.id = s.product_id
    WHERE bloom_may_contain((SELECT bloom_open(bloom_build(id)) FROM customer WHERE country = 'NZ'), s.customer_id)
      AND bloom_may_contain((SELECT bloom_open(bloom_build(id)) FROM product WHERE is_organic), s.product_id)
      AND c.country = 'NZ' AND p.is_organic
}
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
