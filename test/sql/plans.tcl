#!/usr/bin/env tclsh
# What bloom_info and bloom_sets tell SQLite's query planner, seen in the plans; and that SQLite tests a
# filter where sql/README.md says it does: before the look-up in the forms that it recommends, too late in
# the others.  Results alone would be the same, and only slower.
#
#   tclsh test/sql/plans.tcl ?EXTENSION ?SQLITE??      default: ./bloom
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
    CREATE TABLE probed(k);
}
has {names are looked up by the numbers} {VIRTUAL TABLE.*\n.*names USING INTEGER PRIMARY KEY} \
    {SELECT name FROM names, bloom_sets((SELECT file FROM files), 'key') b WHERE names.set_number = b.set_number}
has {the file comes first, then the sets, then names} {files USING INTEGER PRIMARY KEY.*\n.*VIRTUAL TABLE.*\n.*names USING} \
    {SELECT name FROM names, files, bloom_sets(file, 'key') b WHERE part = bloom_partition('key', 99) AND names.set_number = b.set_number}
has {keys come first, each then finds its file} {probed.*\n.*files USING INTEGER PRIMARY KEY.*\n.*VIRTUAL TABLE.*\n.*names USING} \
    {SELECT k, name FROM probed, files, bloom_sets(file, k) b, names WHERE part = bloom_partition(k, 99) AND names.set_number = b.set_number}
has {rows are few, a call is dear: it comes before a table of 100} {^[^\n]*VIRTUAL TABLE} \
    {SELECT * FROM bloom_sets((SELECT file FROM files), 1), sizes s WHERE s.num_bytes = set_number}

# -- Where a filter is tested: sql/README.md.

db eval {
    CREATE TABLE opened(filter BLOB);
    CREATE TABLE customers(visitor_id INTEGER PRIMARY KEY, country TEXT);
    CREATE INDEX customers_country ON customers(country);
    CREATE TABLE visits(id INTEGER PRIMARY KEY, visitor_id INTEGER, status INTEGER, day INTEGER, seconds INTEGER);
    CREATE TABLE calls(visitor_id INTEGER, seconds INTEGER);
    CREATE TABLE visits_with_key AS SELECT * FROM visits;
    CREATE INDEX visits_key ON visits_with_key(visitor_id);
    CREATE TABLE visits_with_status AS SELECT * FROM visits;
    CREATE INDEX visits_status ON visits_with_status(status);
    CREATE TABLE visits_with_day AS SELECT * FROM visits;
    CREATE INDEX visits_day ON visits_with_day(day);
    CREATE TABLE visits_with_both AS SELECT * FROM visits;
    CREATE INDEX visits_both ON visits_with_both(day, visitor_id);
}
# The planner goes by these numbers; the tables are empty.
foreach {table index numbers} {
    customers customers_country {1000000 5000}  visits {} 500000  calls {} 250000
    visits_with_key visits_key {500000 1}  visits_with_status visits_status {500000 10000}
    visits_with_day visits_day {500000 1370}  visits_with_both visits_both {500000 1370 1}
} {
    db eval {INSERT INTO sqlite_stat1 VALUES ($table, nullif($index, ''), $numbers)}
}
db eval {ANALYZE sqlite_master}

proc filter {key} {return "bloom_may_contain((SELECT bloom_open(filter) FROM opened), $key)"}
proc bound {key} {return "bloom_may_contain(?, $key)"}

# The instructions of a statement in their order, one a line: `SeekRowid customers`, `Function bloom_may_contain(2)`.
proc instructions {sql} {
    set lines {}
    db eval "EXPLAIN $sql" step {
        set what $step(p4)
        if {$step(opcode) eq "OpenRead"} {
            set name($step(p1)) [db onecolumn {SELECT name FROM sqlite_master WHERE rootpage = $step(p2)}]
        }
        if {![string match *Func* $step(opcode)] && [info exists name($step(p1))]} {set what $name($step(p1))}
        lappend lines "$step(opcode) $what"
    }
    return $lines
}

# Is the filter tested before the first instruction that the pattern names?
proc tested {when what pattern sql} {
    set lines [instructions $sql]
    set test [lsearch -regexp $lines {Func.* bloom_may_contain}]
    set other [lsearch -regexp $lines $pattern]
    check "$what: tested $when" \
        [expr {$test >= 0 && $other >= 0 && ($when eq "first" ? $test < $other : $test > $other)}] $sql [join $lines \n]
}

set look_up {^(SeekRowid|NotExists|NotFound) customers}
set join {SELECT count(*) FROM visits v JOIN customers c ON v.visitor_id = c.visitor_id}
tested first {a join, the column that is scanned} $look_up "$join WHERE [filter v.visitor_id]"
tested late {a join, the column that is looked up} $look_up "$join WHERE [filter c.visitor_id]"
set using {SELECT count(*) FROM customers JOIN visits USING (visitor_id)}
tested late {USING, the left table's column} $look_up "$using WHERE [filter visitor_id]"
tested first {USING, the column that is scanned} $look_up "$using WHERE [filter visits.visitor_id]"

set in {IN (SELECT visitor_id FROM customers)}
set exists {EXISTS(SELECT 1 AS a FROM customers u WHERE u.visitor_id = v.visitor_id@ LIMIT 1)}
tested first {the filter, then IN} $look_up "SELECT count(*) FROM visits v WHERE [filter visitor_id] AND visitor_id $in"
tested late {IN, then the filter} $look_up "SELECT count(*) FROM visits v WHERE visitor_id $in AND [filter visitor_id]"
tested late {IN that drives an index of the table scanned} {^Seek.. visits_key} \
    "SELECT count(*) FROM visits_with_key WHERE [filter visitor_id] AND visitor_id $in"
tested first {the same with + before the column} $look_up \
    "SELECT count(*) FROM visits_with_key WHERE [filter visitor_id] AND +visitor_id $in"
tested first {the same as EXISTS} $look_up \
    "SELECT count(*) FROM visits_with_key v WHERE [filter v.visitor_id] AND [string map {@ {}} $exists]"
tested late {inside EXISTS} $look_up \
    "SELECT count(*) FROM visits v WHERE [string map [list @ " AND [filter v.visitor_id]"] $exists]"
tested first {inside EXISTS, bound} $look_up \
    "SELECT count(*) FROM visits v WHERE [string map [list @ " AND [bound v.visitor_id]"] $exists]"
tested first {before EXISTS} $look_up \
    "SELECT count(*) FROM visits v WHERE [filter v.visitor_id] AND [string map {@ {}} $exists]"
tested late {a list of keys looked up} $look_up "SELECT count(*) FROM customers WHERE visitor_id IN (?, ?, ?) AND [filter visitor_id]"

set left {SELECT v.id, c.country FROM visits v LEFT JOIN customers c ON c.visitor_id =}
tested late {LEFT JOIN, in ON} $look_up "$left v.visitor_id AND [filter v.visitor_id]"
tested first {LEFT JOIN, in the key} $look_up "$left CASE WHEN [filter v.visitor_id] THEN v.visitor_id END"
set left {SELECT count(*) FROM visits_with_key v LEFT JOIN customers c ON c.visitor_id =}
has {LEFT JOIN, the right table in WHERE: it comes first} {customers_country.*\n.*visits_key} \
    "$left v.visitor_id WHERE c.country = 'NZ'"
has {the same with the filter in WHERE} {customers_country.*\n.*visits_key} \
    "$left v.visitor_id WHERE c.country = 'NZ' AND [filter v.visitor_id]"
has {CASE in the key: every visit is read} {SCAN.* v.*\n.*(c|customers) USING INTEGER PRIMARY KEY} \
    "$left CASE WHEN [filter v.visitor_id] THEN v.visitor_id END WHERE c.country = 'NZ'"

# Around what gathers rows: from some version between 3.44 and 3.52 on SQLite pushes a filter with a subquery
# into DISTINCT and UNION, too.
set pushes [expr {[package vcompare [db onecolumn {SELECT sqlite_version()}] 3.45] > 0 ? "first" : "late"}]
# 3.40 is alone in not pushing into UNION what is bound.
set pushes_bound [expr {[string match 3.40.* [db onecolumn {SELECT sqlite_version()}]] ? "late" : "first"}]
set gather {^(SorterInsert|Found|IdxInsert)}
foreach {what with_filter with_bound view} [list \
    {GROUP BY} late first {SELECT visitor_id, sum(seconds) AS s FROM visits@ GROUP BY visitor_id} \
    DISTINCT $pushes first {SELECT DISTINCT visitor_id, seconds AS s FROM visits@} \
    UNION $pushes $pushes_bound {SELECT visitor_id, seconds AS s FROM visits@ UNION SELECT visitor_id, seconds FROM calls@}] {
    set around "SELECT count(*), sum(v.s) FROM ([string map {@ {}} $view]) v JOIN customers c ON c.visitor_id = v.visitor_id"
    tested $with_filter "around $what" $gather "$around WHERE [filter v.visitor_id]"
    tested $with_bound "around $what, bound" $gather "$around WHERE [bound v.visitor_id]"
    tested first "inside $what" $gather \
        "SELECT count(*), sum(v.s) FROM ([string map [list @ " WHERE [filter visitor_id]"] $view]) v JOIN customers c ON c.visitor_id = v.visitor_id"
}

set by_status {FROM visits_with_status v JOIN customers c ON v.visitor_id = c.visitor_id WHERE}
has {GROUP BY walks the index} {visits_status} "SELECT status, count(*) $by_status [filter v.visitor_id] GROUP BY status"
lacks {GROUP BY +column does not} {visits_status} "SELECT status, count(*) $by_status [filter v.visitor_id] GROUP BY +status"
has {ORDER BY walks the index} {visits_status} "SELECT v.id $by_status [filter v.visitor_id] ORDER BY status"
lacks {ORDER BY +column does not} {visits_status} "SELECT v.id $by_status [filter v.visitor_id] ORDER BY +status"
lacks {likelihood(filter) does not} {visits_status} \
    "SELECT v.id $by_status likelihood([filter v.visitor_id], 0.01) ORDER BY status"
has {LIMIT walks the index} {visits_status} "SELECT v.id $by_status [filter v.visitor_id] ORDER BY status LIMIT 21"

set in_days {AS v JOIN customers c ON v.visitor_id = c.visitor_id WHERE day BETWEEN 1 AND 30 AND}
tested late {an index for the range: the row comes first} {^Column visits_with_day$} \
    "SELECT sum(v.seconds) FROM visits_with_day $in_days [filter v.visitor_id]"
tested first {an index for the range that holds the key} {^Column visits_with_both$} \
    "SELECT sum(v.seconds) FROM visits_with_both $in_days [filter v.visitor_id]"

# -- How often a statement opens its filter.

proc counted {filter} {
    incr ::num_opens
    return $filter
}
db function counted -deterministic -returntype blob counted
db eval {
    CREATE TABLE probed_rows(k INTEGER, other INTEGER);
    WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 100) INSERT INTO probed_rows SELECT i, i FROM c;
    INSERT INTO opened SELECT bloom_build(k) FROM probed_rows;
    CREATE VIEW known AS SELECT k FROM probed_rows WHERE bloom_may_contain((SELECT bloom_open(counted(filter)) FROM opened), k);
    CREATE VIEW judged AS
      SELECT k, bloom_may_contain((SELECT bloom_open(counted(filter)) FROM opened), k) AS is_known FROM probed_rows;
}
proc opens {what num_opens sql} {
    set ::num_opens 0
    set rows [db eval $sql]
    check "$what: opened $::num_opens times, not $num_opens" [expr {$rows ne "" && $::num_opens == $num_opens}] $sql $rows
}
set open {(SELECT bloom_open(counted(filter)) FROM opened)}
opens {a scan} 1 "SELECT count(*) FROM probed_rows WHERE bloom_may_contain($open, k)"
opens {written twice} 2 "SELECT count(*) FROM probed_rows WHERE bloom_may_contain($open, k) AND bloom_may_contain($open, other)"
opens {a view used once} 1 {SELECT count(*) FROM known}
opens {a view used twice} 2 {SELECT count(*) FROM known a JOIN known b ON a.k = b.k}
opens {an alias in WHERE} 1 {SELECT k FROM judged WHERE is_known}
opens {an alias in WHERE and in SELECT} 2 {SELECT k, is_known FROM judged WHERE is_known}
opens {an alias in SELECT, WHERE, GROUP BY and ORDER BY} 3 \
    {SELECT is_known, count(*) FROM judged WHERE is_known GROUP BY is_known ORDER BY is_known}
opens {a subquery in FROM: once a row} 100 \
    {SELECT count(*) FROM (SELECT bloom_open(counted(filter)) AS handle FROM opened), probed_rows WHERE bloom_may_contain(handle, k)}
opens {a correlated subquery: once a row} 100 \
    {SELECT count(*) FROM probed_rows WHERE bloom_may_contain((SELECT bloom_open(counted(filter)) FROM opened WHERE probed_rows.k > 0), k)}
opens {around UNION, pushed into both arms} [expr {$pushes eq "first" ? 3 : 1}] \
    "SELECT count(*) FROM (SELECT k FROM probed_rows UNION SELECT other FROM probed_rows) v WHERE bloom_may_contain($open, k)"

# -- The forms of sql/README.md: which of them open the filter once, and which hand on a handle that SQLite has dropped.

db eval {CREATE VIEW handles AS SELECT bloom_open(counted(filter)) AS handle FROM opened}
set few {SELECT count(*) FROM (SELECT k * 7 AS k FROM probed_rows)}
proc form {what num_opens num_rows sql} {
    opens $what $num_opens $sql
    set rows [db eval $sql]
    check "$what: $rows rows, not $num_rows" [expr {$rows == $num_rows}] $sql $rows
}
# 14 of the keys are there, and one more passes.
set pass [db onecolumn "$few WHERE bloom_may_contain((SELECT filter FROM opened), k)"]
form {coalesce inside bloom_open} 1 $pass \
    "$few WHERE bloom_may_contain((SELECT bloom_open(coalesce(counted(filter), bloom_empty(0))) FROM opened), k)"
form {coalesce around the subquery} 100 $pass \
    "$few WHERE bloom_may_contain(bloom_open(counted(coalesce((SELECT filter FROM opened), bloom_empty(0)))), k)"
opens {a handle of a view in FROM} 100 \
    {SELECT count(*) FROM handles, (SELECT k * 7 AS k FROM probed_rows) WHERE bloom_may_contain(handle, k)}
# 3.31 hands the handle itself on, which is right, too, and fast.
set pass_or_all [expr {[package vcompare [db onecolumn {SELECT sqlite_version()}] 3.32] < 0 ? $pass : 100}]
form {a handle of a view, in a scalar subquery: NULL} 1 $pass_or_all "$few WHERE bloom_may_contain((SELECT handle FROM handles), k)"
form {the filter tested inside the subquery} 100 $pass \
    "$few WHERE (SELECT bloom_may_contain(bloom_open(counted(filter)), k) FROM opened)"
form {EXISTS around the filter} 100 $pass \
    "$few WHERE EXISTS (SELECT 1 FROM opened WHERE bloom_may_contain(bloom_open(counted(filter)), k))"
if {[package vcompare [db onecolumn {SELECT sqlite_version()}] 3.35] >= 0} {
    form {a handle of a MATERIALIZED CTE: NULL} 1 100 "WITH h AS MATERIALIZED (SELECT bloom_open(counted(filter)) AS handle FROM opened)
        $few WHERE bloom_may_contain((SELECT handle FROM h), k)"
    opens {UPDATE ... FROM a handle} 100 {UPDATE probed_rows SET other = k
        FROM (SELECT bloom_open(counted(filter)) AS handle FROM opened) WHERE bloom_may_contain(handle, k) RETURNING k}
    # The join that the page recommends: the filter before the index that SQLite makes of d, in the place of the table.
    set d {WITH d AS MATERIALIZED (SELECT visitor_id FROM customers WHERE country = 'NZ') SELECT count(*) FROM visits v}
    set of_d {bloom_may_contain((SELECT bloom_filter(visitor_id) FROM d), v.visitor_id)}
    set look_up {^Seek(GE|GT) }
    has {d is made once, and looked up by an index of its own} {MATERIALIZE d.*\n.*SCAN.*\mv\M.*d USING AUTOMATIC} \
        "$d CROSS JOIN d ON d.visitor_id = v.visitor_id WHERE $of_d"
    has {d and LEFT JOIN} {MATERIALIZE d.*\n.*SCAN.*\mv\M.*d USING AUTOMATIC} "$d LEFT JOIN d ON d.visitor_id = v.visitor_id AND $of_d"
    tested first {the filter of d, then IN} {^(NotFound|Found)} "$d WHERE $of_d AND visitor_id IN (SELECT visitor_id FROM d)"
}

puts "$num_passed passed, $num_failed failed"
exit [expr {$num_failed > 0 || $num_passed == 0}]
