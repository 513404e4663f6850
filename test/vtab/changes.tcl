#!/usr/bin/env tclsh
# Every way to change a table that a filter follows.
#
#   tclsh test/vtab/changes.tcl ?--sample? ?EXTENSION ?SQLITE??      default: ./bloom
#
# A statement's conflict policy holds in the triggers that it fires, too; REPLACE deletes
# rows without firing DELETE triggers; a collation may hide that a key changed, and a key
# may change without being named.  So each change is made in two databases that trust no
# schema, one of them without a filter: rows and errors must be the same in both, and no
# key may be missed, by look-up or by handle, before the transaction ends or after.
#
# SQLITE is the Tcl package (a tclsqlite3.so) of another SQLite than the system's.  --sample: a third
# of the tables and filters, each of them with one other.
#
# Prints `N passed, N failed` last; exit status 1 if any failed.

package require Tcl 8.6
set is_sample [expr {[lindex $argv 0] eq "--sample"}]
if {$is_sample} {set argv [lrange $argv 1 end]; incr argc -1}
if {$argc > 1} {load [lindex $argv 1] Sqlite3} else {package require sqlite3}

set extension [file normalize [expr {$argc ? [lindex $argv 0] : "./bloom"}]]
set num_passed 0
set num_failed 0
set number_of_case 0

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
    catch {$database close}
    sqlite3 $database :memory:
    $database enable_load_extension 1
    $database eval {SELECT load_extension($::extension)}
    $database eval {PRAGMA trusted_schema = OFF}
    $database config defensive 1
    $database eval "$schema; PRAGMA recursive_triggers = $recursive;
        WITH RECURSIVE c(i) AS (VALUES (100) UNION ALL SELECT i + 1 FROM c WHERE i < 699)
        INSERT INTO t($name) SELECT i FROM c"
}

# Rows of t that FILTER meets and misses: false negatives.
set missed {
    SELECT count(*) FROM t WHERE key IS NOT NULL AND %s
      AND (NOT EXISTS (SELECT 1 FROM f WHERE f.key = t.key) OR bloom_may_contain((SELECT handle FROM f), key) IS NOT 1)}

# What goes wrong with a filter of t.
proc wrongs {schema name recursive filter condition merge} {
    table_of_keys db $schema $name $recursive
    table_of_keys plain $schema $name $recursive
    db eval $filter
    set missed [format $::missed $condition]
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
                if {$database eq "db" && $number % 3 == 0 && [set num_missed [db eval $missed]]} {
                    lappend wrong "$change: $num_missed keys missed in the transaction"
                }
                catch {$database eval COMMIT}
            }
            if {$merge ne ""} {db eval "INSERT INTO f(f) VALUES ('$merge')"}
            incr num_errors [expr {$error(plain) ne ""}]
            if {$error(db) ne $error(plain)} { lappend wrong "$change: $error(db), not $error(plain)" }
            if {[db eval $rows] ne [plain eval $rows]} { lappend wrong "$change: other rows" }
            if {[set num_missed [db eval $missed]]} { lappend wrong "$change: $num_missed keys missed" }
        }
    }
    if {$num_errors < 5} { lappend wrong "only $num_errors changes failed without a filter" }
    # The first of them; most others follow from it.
    return [join [lrange $wrong 0 2] "\n  "]
}

foreach {what schema name} {
    {no affinity}    {CREATE TABLE t(id INTEGER PRIMARY KEY, key UNIQUE, other)} key
    {TEXT}           {CREATE TABLE t(key TEXT PRIMARY KEY, other) WITHOUT ROWID} key
    {NOCASE}         {CREATE TABLE t(key TEXT COLLATE NOCASE UNIQUE, other)} key
    {INTEGER}        {CREATE TABLE t(key INTEGER NOT NULL DEFAULT 7777 UNIQUE, other)} key
    {REAL}           {CREATE TABLE t(key REAL UNIQUE, other)} key
    {STRICT}         {CREATE TABLE t(key ANY UNIQUE, other ANY) STRICT} key
    {REPLACE}        {CREATE TABLE t(key UNIQUE ON CONFLICT REPLACE, other)} key
    {IGNORE}         {CREATE TABLE t(key NOT NULL UNIQUE ON CONFLICT IGNORE, other)} key
} {
    foreach recursive {OFF ON} {
        foreach {form filter condition} {
            {a column}            {CREATE VIRTUAL TABLE f USING bloom(t, key)} 1
            {a column, merged}    {CREATE VIRTUAL TABLE f USING bloom(t, key, capacity = 700)} 1
            {a column, pieces}    {CREATE VIRTUAL TABLE f USING bloom(t, key, capacity = 10)} 1
        } {
            if {[catch {set sqlite [db version]}]} {set sqlite [sqlite3 -version]}
            if {$what eq "STRICT" && [package vcompare $sqlite 3.37] < 0} continue
            # A third of three filters by two states of triggers: by turns another one of each table.
            if {$is_sample && ([incr number_of_case] + ($number_of_case - 1) / 6) % 3} continue
            set wrong [wrongs $schema $name $recursive $filter $condition [dict get {{a column} {} {a column, merged} merge {a column, pieces} merge=3} $form]]
            if {$wrong eq ""} {
                incr num_passed
            } else {
                incr num_failed
                puts "FAIL $form, key column $what, recursive_triggers $recursive\n  $wrong"
            }
        }
    }
}

# A defensive connection writes to shadow tables by the virtual table alone.
foreach statement {{DELETE FROM f_pages} {UPDATE f_pages SET bytes = NULL} {DROP TABLE f_pages}} {
    if {[catch {db eval $statement} message]} {
        incr num_passed
    } else {
        incr num_failed
        puts "FAIL a defensive connection ran: $statement"
    }
}
if {[catch {db eval {INSERT INTO f(f) VALUES ('integrity-check'); DROP TABLE f}} message]} {
    incr num_failed
    puts "FAIL defensive: $message"
} else {
    incr num_passed
}

puts "$num_passed passed, $num_failed failed"
exit [expr {$num_failed > 0}]
