#!/usr/bin/env tclsh
# What bloom_info and bloom_sets tell SQLite's query planner, seen in the plans: results alone would be
# the same, and only slower, without it.
#
#   tclsh test/plans.tcl ?EXTENSION ?SQLITE??      default: ./bloom
#
# SQLITE is the Tcl package (a tclsqlite3.so) of another SQLite than the system's.
#
# Prints `N passed, N failed` last; exit status 1 if any failed.

package require Tcl 8.6
if {$argc > 1} {load [lindex $argv 1] Sqlite3} else {package require sqlite3}
sqlite3 db :memory:
db enable_load_extension 1
set extension [file normalize [expr {$argc ? [lindex $argv 0] : "./bloom"}]]
db eval {SELECT load_extension($extension)}
set num_passed 0
set num_failed 0

# The steps of a plan, one a line.
proc plan {sql} {
    set steps {}
    db eval "EXPLAIN QUERY PLAN $sql" step {lappend steps $step(detail)}
    return [join $steps \n]
}

proc check {what is_right sql plan} {
    if {$is_right} {
        incr ::num_passed
    } else {
        incr ::num_failed
        puts "FAIL $what\n  $sql\n  [string map {\n "\n  "} $plan]"
    }
}

# A pattern that the plan has, or has not.
proc has {what pattern sql} {
    set plan [plan $sql]
    check $what [regexp $pattern $plan] $sql $plan
}

proc lacks {what pattern sql} {
    set plan [plan $sql]
    check $what [expr {$plan ne "" && ![regexp $pattern $plan]}] $sql $plan
}

db eval {
    CREATE TABLE filters(id INTEGER PRIMARY KEY, filter BLOB);
    CREATE TABLE numbers(i INTEGER PRIMARY KEY, k INTEGER);
    CREATE TABLE sizes(num_bytes INTEGER);
    WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 100) INSERT INTO sizes SELECT i FROM c;
    ANALYZE sizes;
}

# -- Columns that are not named cost nothing: the plan's number holds a bit for each that is.

set bit 1
set all 0
foreach name [db eval {SELECT name FROM pragma_table_info('bloom_info') ORDER BY cid}] {
    has "$name alone is computed" "VIRTUAL TABLE INDEX $bit:" "SELECT $name FROM bloom_info(x'0006')"
    incr all $bit
    set bit [expr {$bit * 2}]
}
has {all columns are computed} "VIRTUAL TABLE INDEX $all:" {SELECT * FROM bloom_info(x'0006')}
has {none is computed} {VIRTUAL TABLE INDEX 0:} {SELECT count(*) FROM bloom_info(x'0006')}
has {a column of WHERE is computed, one of ORDER BY too} {VIRTUAL TABLE INDEX 3:} \
    {SELECT id FROM filters, bloom_info(filter) WHERE encoding = 'leveldb' ORDER BY num_bytes}

# -- One row, and cheap.

lacks {one row at most: a LEFT JOIN from which nothing is read is left out} {VIRTUAL TABLE} \
    {SELECT id FROM filters LEFT JOIN bloom_info(filter)}
has {one row: it comes before a table of 100 rows} {^[^\n]*VIRTUAL TABLE} \
    {SELECT * FROM bloom_info(x'0006') i, sizes s WHERE s.num_bytes = i.num_bytes}
lacks {cheap: run more often rather than sorted after} {TEMP B-TREE} \
    {SELECT * FROM filters f, bloom_info(f.filter) i, numbers n ORDER BY n.i}
has {the table of the filters comes first, wherever it is written} {filters.*\n.*VIRTUAL TABLE} \
    {SELECT num_bytes FROM bloom_info i, filters WHERE i.argument = filters.filter}

# -- bloom_sets: few rows, so it comes before the tables that are looked up by its numbers.

db eval {
    CREATE TABLE files(part INTEGER PRIMARY KEY, file BLOB);
    CREATE TABLE names(set_number INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE asked(k);
}
has {names are looked up by the numbers} {VIRTUAL TABLE.*\n.*names USING INTEGER PRIMARY KEY} \
    {SELECT name FROM names, bloom_sets((SELECT file FROM files), 'key') b WHERE names.set_number = b.set_number}
has {the file comes first, then the sets, then names} {files USING INTEGER PRIMARY KEY.*\n.*VIRTUAL TABLE.*\n.*names USING} \
    {SELECT name FROM names, files, bloom_sets(file, 'key') b WHERE part = bloom_partition('key', 99) AND names.set_number = b.set_number}
has {keys come first, each then finds its file} {asked.*\n.*files USING INTEGER PRIMARY KEY.*\n.*VIRTUAL TABLE.*\n.*names USING} \
    {SELECT k, name FROM asked, files, bloom_sets(file, k) b, names WHERE part = bloom_partition(k, 99) AND names.set_number = b.set_number}
has {rows are few, a call is dear: it comes before a table of 100} {^[^\n]*VIRTUAL TABLE} \
    {SELECT * FROM bloom_sets((SELECT file FROM files), 1), sizes s WHERE s.num_bytes = set_number}

puts "$num_passed passed, $num_failed failed"
exit [expr {$num_failed > 0 || $num_passed == 0}]
