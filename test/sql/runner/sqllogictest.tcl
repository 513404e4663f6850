#!/usr/bin/env tclsh
# Runs sqllogictest files on SQLite, through SQLite's own Tcl package or through a
# process that speaks test/platforms/machines/sql_process.c's protocol.
#
#   tclsh test/sql/runner/sqllogictest.tcl ?--load EXTENSION? FILE-OR-DIRECTORY ...
#
# The format is the one of https://sqlite.org/sqllogictest/doc/trunk/about.wiki:
# records parted by blank lines, each a statement, a query, hash-threshold or halt,
# under any number of skipif and onlyif lines. Added to it:
#   statement error REGULAR-EXPRESSION    the message must match
#   load EXTENSION ?ENTRY-POINT?          as .load does in the sqlite3 shell
#   encodings NAME ...                    at the top of a file: it runs once for each, on a
#                                         database of that encoding
#   $SEED in SQL                          an integer, drawn anew in each run and printed at
#                                         its end; BLOOM_TEST_SEED sets it
# Stricter than SQLite's own runner: a query that fails after its first row fails, and
# too few or too many expected values fail; so does any line that means nothing, also in
# a record that is skipped, and a file of which no record ran, whether it has none, skips
# all or halts first.

package require Tcl 8.6

namespace eval slt {
    variable engine sqlite
    # Stands for NULL on the way from SQLite to Tcl and back: new in each run, so that no
    # test can write it as a text.
    variable null "\x01NULL [pid] [clock clicks] [expr {rand()}]"
    variable max_lines_shown 20
    variable max_chars_shown 200

    # Options.
    variable extensions {}
    variable database :memory:
    variable process {}

    # The whole run.
    variable num_passed 0
    variable num_failed 0
    variable seed [expr {[info exists ::env(BLOOM_TEST_SEED)] ? wide($::env(BLOOM_TEST_SEED)) : [clock microseconds] % 1000000000}]
    variable seed_is_used no

    # The file being run; a label maps to its digest and line.
    variable hash_threshold
    variable labels
    variable line_number
}

# ---------------------------------------------------------------- text and bytes

# Files are read and reports are written as bytes, one character each; only SQLite sees
# text. Decoding UTF-8 would not do: Tcl 8.6 breaks characters above U+FFFF into two.
set slt::sqlite_encoding [expr {"identity" in [encoding names] ? "identity" : "utf-8"}]

proc slt::text_of_bytes {bytes} {
    variable sqlite_encoding
    encoding convertfrom $sqlite_encoding $bytes
}

proc slt::bytes_of_text {text} {
    variable sqlite_encoding
    encoding convertto $sqlite_encoding $text
}

# Writes the 64 steps of MD5 out as one procedure of plain arithmetic: 5 MB/s, where
# large results are nothing but hashing. Source: RFC 1321, section 3.4.
proc slt::define_md5_block {} {
    # What is mixed, the shifts, and the stride and start of the way through the words.
    set rounds {
        {{($b & $c) | (~$b & $d)}  {7 12 17 22}  1 0}
        {{($b & $d) | ($c & ~$d)}  {5  9 14 20}  5 1}
        {{$b ^ $c ^ $d}            {4 11 16 23}  3 5}
        {{$c ^ ($b | (~$d & $m))}  {6 10 15 21}  7 0}
    }
    set step_body {
        set a [expr {($a + (MIX) + $wWORD + SINE) & $m}]
        set a [expr {((($a << LEFT) | ($a >> RIGHT)) + $b) & $m}]}
    set body {
        set m 0xffffffff
        lassign [list $a0 $b0 $c0 $d0] a b c d}
    # The registers turn by one each step: they change names instead of values.
    set turn [list a b c d]
    for {set step 0} {$step < 64} {incr step} {
        lassign [lindex $rounds [expr {$step / 16}]] mix shifts stride start
        set left [lindex $shifts [expr {$step % 4}]]
        set text [string map [list MIX $mix LEFT $left RIGHT [expr {32 - $left}] \
            WORD [expr {($start + $stride * $step) % 16}] \
            SINE [expr {wide(abs(sin($step + 1)) * 4294967296.0)}]] $step_body]
        lassign $turn a b c d
        append body [string map \
            [list "set a" "set $a" \$a \$$a \$b \$$b \$c \$$c \$d \$$d] $text]
        set turn [list $d $a $b $c]
    }
    append body {
        list [expr {($a0 + $a) & $m}] [expr {($b0 + $b) & $m}] \
            [expr {($c0 + $c) & $m}] [expr {($d0 + $d) & $m}]}
    proc md5_block {a0 b0 c0 d0
        w0 w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 w15} $body
}
slt::define_md5_block

proc slt::md5 {bytes} {
    set num_bytes [string length $bytes]
    append bytes \x80 [string repeat \0 [expr {(55 - $num_bytes) % 64}]] \
        [binary format w [expr {$num_bytes * 8}]]
    set state {0x67452301 0xefcdab89 0x98badcfe 0x10325476}
    set num_padded [string length $bytes]
    for {set i 0} {$i < $num_padded} {incr i 64} {
        binary scan $bytes @${i}iu16 words
        set state [md5_block {*}$state {*}$words]
    }
    binary encode hex [binary format i4 $state]
}

# ---------------------------------------------------------------- running SQL

# The Tcl package binds the caller's variable x to $x, :x and @x. So the two procedures
# that call `db eval` have no variable but those whose names hold a space. A newline goes
# before the SQL, for a comment at its start would be taken for an option.

proc slt::execute {{{the sql}}} {
    if {$slt::process ne ""} {
        request execute [bytes_of_text ${the sql}]
        return
    }
    if {[catch {db eval "\n${the sql}"} {the message}]} {
        raise_sql_error ${the message}
    }
}

# `db eval` into an array names the columns even where there is no row, and the trace
# sees each value in turn, even where two columns share a name.
proc slt::execute_query {{{the sql}}} {
    trace add variable {the row} write ::slt::take_value
    if {[catch {db eval "\n${the sql}" {the row} {}} {the message}]} {
        raise_sql_error ${the message}
    }
}

proc slt::raise_sql_error {message} {
    throw {SLT SQL} [bytes_of_text $message]
}

# The values of a query, row by row, rendered as the types of their columns.
proc slt::query_values {types sql} {
    variable process
    variable column_names {}
    variable column 0
    variable column_counts {}
    variable values {}
    if {$process ne ""} {
        request query [join $types ""]\n[bytes_of_text $sql]
    } else {
        # Tcl objects that keep SQLite's type.
        execute_query $sql
    }
    if {[llength $column_counts] != 1} {
        fail "a query must be one statement, this is [llength $column_counts]"
    }
    if {$column_counts != [llength $types]} {
        fail "wrong number of columns: expected [llength $types], got $column_counts"
    }
    if {$process ne ""} {return $values}
    render $types $values
}

# Element "*", the list of column names, comes once a statement before its rows. A
# column may have that name too, but then it is one of the row.
proc slt::take_value {array element operation} {
    variable column_names
    variable column
    variable column_counts
    variable values
    upvar 1 $array row
    if {$element eq "*" && $column == 0 && [lindex $column_names 0] ne "*"} {
        set column_names $row(*)
        lappend column_counts [llength $column_names]
        return
    }
    lappend values $row($element)
    if {[incr column] == [llength $column_names]} {set column 0}
}

# Sends one request to the process and takes its reply: lines up to ok or error, where
# a number says how many bytes follow.
proc slt::request {operation bytes} {
    variable channel
    variable column_counts
    variable values
    try {
        puts -nonewline $channel "$operation [string length $bytes]\n$bytes"
        flush $channel
        while {1} {
            lassign [gets $channel] word number
            if {$word in {value error}} {
                set text [read $channel $number]
                gets $channel
            }
            switch -- $word {
                columns {lappend column_counts $number}
                value   {lappend values [printable $text]}
                null    {lappend values NULL}
                ok      return
                error   break
                default {error "it ended, or does not speak the protocol"}
            }
        }
    } on error message {
        fail "the process does not answer" "got error: $message"
    }
    throw {SLT SQL} $text
}

# SQLite renders, for Tcl would print other digits: a value is bound again, in a
# connection of our own. No string operation may touch it before, or it becomes text.
set slt::render_sql(I) {SELECT CASE WHEN $value = $null THEN 'NULL'
    ELSE CAST(CAST($value AS INTEGER) AS TEXT) END}
set slt::render_sql(R) {SELECT CASE WHEN $value = $null THEN 'NULL'
    ELSE printf('%.3f', CAST($value AS REAL)) END}
set slt::render_sql(T) {SELECT CASE WHEN $value = $null THEN 'NULL'
    ELSE CAST($value AS TEXT) END}

proc slt::render {types values} {
    variable null
    variable render_sql
    set sql_of_column [lmap type $types {set render_sql($type)}]
    set num_columns [llength $types]
    set column 0
    set rendered {}
    foreach value $values {
        set text [renderer onecolumn [lindex $sql_of_column $column]]
        if {[regexp {[^ -~]} $text]} {
            set text [renderer onecolumn {SELECT CAST(CAST($value AS TEXT) AS BLOB)}]
        }
        lappend rendered [printable $text]
        if {[incr column] == $num_columns} {set column 0}
    }
    return $rendered
}

# One @ for each byte, not for each character. A NUL ends the text, as in C.
proc slt::printable {bytes} {
    regsub {\x00.*} $bytes "" bytes
    if {$bytes eq ""} {return (empty)}
    regsub -all {[^ -~]} $bytes @
}

# In the order of strcmp, column by column. Rendered values are printable ASCII, so rows
# compare as strings with \x01, lower than all of it, between the values.
proc slt::sort_values {sort num_columns values} {
    if {$sort eq "nosort"} {return $values}
    if {$sort eq "valuesort"} {return [lsort $values]}
    set rows {}
    set last [expr {$num_columns - 1}]
    for {set i 0} {$i < [llength $values]} {incr i $num_columns} {
        lappend rows [join [lrange $values $i $i+$last] \x01]
    }
    concat {*}[lmap row [lsort $rows] {split $row \x01}]
}

# ---------------------------------------------------------------- records

# Ends the record; the details are lines for the report.
proc slt::fail {title args} {
    throw [list SLT FAIL $args] $title
}

# After a directive's own words only a comment may follow.
proc slt::check_rest {words} {
    if {[llength $words] && ![string match #* [lindex $words 0]]} {
        fail "unexpected word '[lindex $words 0]'"
    }
}

proc slt::check_no_body {directive body} {
    if {[llength $body]} {
        fail "unexpected line below $directive: [lindex $body 0]"
    }
}

# Runs a record, given as its lines without comments and their numbers. Returns what
# became of it: passed, skipped, set (no test) or halt. A record that is skipped must
# mean something all the same.
proc slt::run_record {lines numbers} {
    variable engine
    variable line_number
    set skipped no
    while {1} {
        set lines [lassign $lines line]
        set numbers [lassign $numbers line_number]
        set words [lassign [regexp -all -inline {[^ \t]+} $line] directive]
        if {$directive ni {skipif onlyif}} break
        if {[llength $words] == 0 || [string match #* [lindex $words 0]]} {
            fail "$directive names no engine"
        }
        check_rest [lrange $words 1 end]
        if {![llength $lines]} {
            fail "$directive has no record below it"
        }
        set is_ours [string equal -nocase [lindex $words 0] $engine]
        if {$is_ours == ($directive eq "skipif")} {set skipped yes}
    }
    if {$directive ni {statement query hash-threshold halt load encodings}} {
        fail "unknown directive '$directive'"
    }
    run_$directive $line $words $lines $skipped
}

proc slt::sql_of {lines} {
    variable seed
    variable seed_is_used
    set sql [join $lines \n]
    if {[string first {$SEED} $sql] >= 0} {set seed_is_used yes}
    text_of_bytes [string map [list {$SEED} $seed] $sql]
}

proc slt::run_statement {line words body skipped} {
    set expectation [lindex $words 0]
    switch -- $expectation {
        ok      {check_rest [lrange $words 1 end]}
        error   {
            regexp {^[ \t]*statement[ \t]+error[ \t]*(.*?)[ \t]*$} $line -> pattern
            if {[string match #* $pattern]} {set pattern ""}
            if {[catch {regexp -- $pattern ""} message]} {fail "bad regular expression: $message"}
        }
        default {fail "statement must be 'ok' or 'error', not '$expectation'"}
    }
    if {![llength $body]} {fail "statement without SQL"}
    if {$skipped} {return skipped}

    set failed no
    try {
        execute [sql_of $body]
    } trap {SLT SQL} message {
        set failed yes
    }
    if {$expectation eq "ok"} {
        if {$failed} {fail "statement failed" "got error: $message"}
        return passed
    }
    if {!$failed} {fail "statement did not fail" "expected error: $pattern"}
    if {![regexp -- $pattern $message]} {
        fail "wrong error message" "expected error: $pattern" "got error:      $message"
    }
    return passed
}

proc slt::run_query {line words body skipped} {
    variable hash_threshold
    variable labels
    variable line_number

    # A comment may end the line: what follows # is not ours.
    set comment [lsearch $words #*]
    if {$comment >= 0} {set words [lrange $words 0 $comment-1]}
    lassign $words types sort label
    if {$types eq ""} {fail "query without column types"}
    if {[regexp {[^TIR]} $types type]} {fail "unknown column type '$type'"}
    if {$sort eq ""} {set sort nosort}
    if {$sort ni {nosort rowsort valuesort}} {fail "unknown sort mode '$sort'"}
    check_rest [lrange $words 3 end]
    set types [split $types ""]

    # Without the dashes no value is expected either, as in SQLite's runner.
    set dashes [lsearch -exact $body ----]
    if {$dashes < 0} {set dashes [llength $body]}
    set sql [lrange $body 0 $dashes-1]
    set expected [lrange $body $dashes+1 end]
    if {![llength $sql]} {fail "query without SQL"}
    if {$skipped} {return skipped}

    try {
        set values [query_values $types [sql_of $sql]]
    } trap {SLT SQL} message {
        fail "query failed" "got error: $message"
    }
    set values [sort_values $sort [llength $types] $values]

    set num_values [llength $values]
    set by_hash [expr {$hash_threshold > 0 && $num_values > $hash_threshold}]
    if {$by_hash || $label ne ""} {
        set digest [md5 [join [concat $values [list ""]] \n]]
    }
    if {$by_hash} {
        check_hash $expected "$num_values values hashing to $digest" $values
    } else {
        check_values $expected $values
    }
    if {$label ne ""} {
        if {![info exists labels($label)]} {set labels($label) [list $digest $line_number]}
        lassign $labels($label) first_digest first_line
        if {$digest ne $first_digest} {
            fail "result differs from line $first_line, which has the same label $label"
        }
    }
    return passed
}

proc slt::run_hash-threshold {line words body skipped} {
    variable hash_threshold
    set number [lindex $words 0]
    if {![regexp {^\d+$} $number]} {fail "hash-threshold must be a number, not '$number'"}
    check_rest [lrange $words 1 end]
    check_no_body hash-threshold $body
    if {$skipped} {return skipped}
    scan $number %lld hash_threshold
    return set
}

# run_file heeds it.
proc slt::run_encodings {line words body skipped} {
    check_no_body encodings $body
    return set
}

proc slt::run_halt {line words body skipped} {
    check_rest $words
    check_no_body halt $body
    if {$skipped} {return skipped}
    return halt
}

proc slt::run_load {line words body skipped} {
    lassign $words path entry_point
    if {$path eq ""} {fail "load names no extension"}
    if {[string match #* $entry_point]} {
        set entry_point ""
    } else {
        check_rest [lrange $words 2 end]
    }
    check_no_body load $body
    if {$skipped} {return skipped}
    load_extension [text_of_bytes $path] [text_of_bytes $entry_point]
    return passed
}

# Loading is allowed for this one call: tests see the connection as SQLite opens it.
proc slt::load_extension {path entry_point} {
    if {$slt::process ne ""} {
        try {
            request load [bytes_of_text $path\n$entry_point]
        } trap {SLT SQL} message {
            fail "cannot load [bytes_of_text $path]" "got error: $message"
        }
        return
    }
    db enable_load_extension 1
    try {
        if {$entry_point eq ""} {
            db eval {SELECT load_extension($path)}
        } else {
            db eval {SELECT load_extension($path, $entry_point)}
        }
    } on error message {
        fail "cannot load [bytes_of_text $path]" "got error: [bytes_of_text $message]"
    } finally {
        db enable_load_extension 0
    }
}

# ---------------------------------------------------------------- comparing, reporting

proc slt::check_hash {expected hash_line values} {
    variable hash_threshold
    if {$expected eq [list $hash_line]} return
    set details [concat \
        [clip "expected: " $expected] [list "got:      $hash_line"] [clip "          " $values]]
    if {![regexp {^\d+ values hashing to } [lindex $expected 0]]} {
        lappend details "(more than $hash_threshold values: the hash is expected;\
            see hash-threshold)"
    }
    fail "wrong result hash" {*}$details
}

proc slt::check_values {expected values} {
    variable max_lines_shown
    if {[join $expected \n] eq [join $values \n]} return

    set num_lines [expr {max([llength $expected], [llength $values])}]
    set first 0
    while {$first < min([llength $expected], [llength $values])
            && [lindex $expected $first] eq [lindex $values $first]} {incr first}
    set from [expr {max(0, $first - 3)}]
    set end [expr {min($num_lines, $from + $max_lines_shown)}]

    set details [list "expected [llength $expected] values (-), got [llength $values] (+);\
        value [expr {$first + 1}] is the first to differ:"]
    if {$from > 0} {lappend details "    ... $from equal"}
    for {set i $from} {$i < $end} {incr i} {
        set old [lrange $expected $i $i]
        set new [lrange $values $i $i]
        if {$old eq $new} {
            lappend details {*}[clip "    " $old]
        } else {
            lappend details {*}[clip "  - " $old] {*}[clip "  + " $new]
        }
    }
    if {$end < $num_lines} {lappend details "    ... [expr {$num_lines - $end}] more"}
    fail "wrong result" {*}$details
}

# Lines for a report: the first gets the prefix, the others stand below it.
proc slt::clip {prefix lines} {
    variable max_lines_shown
    variable max_chars_shown
    set clipped {}
    foreach line [lrange $lines 0 $max_lines_shown-1] {
        set num_more [expr {[string length $line] - $max_chars_shown}]
        if {$num_more > 0} {
            set line "[string range $line 0 $max_chars_shown-1]... ($num_more bytes more)"
        }
        lappend clipped $prefix$line
        set prefix [string repeat " " [string length $prefix]]
    }
    set num_more [expr {[llength $lines] - $max_lines_shown}]
    if {$num_more > 0} {lappend clipped "$prefix... ($num_more lines more)"}
    return $clipped
}

proc slt::report_failure {place title sql details} {
    variable num_failed
    incr num_failed
    puts "$place: $title"
    foreach line [concat [clip "" $sql] $details] {puts "    $line"}
}

# ---------------------------------------------------------------- files

proc slt::read_bytes {path} {
    set channel [open $path rb]
    try {
        return [read $channel]
    } finally {
        close $channel
    }
}

proc slt::open_database {encoding} {
    variable database
    variable null
    variable extensions
    variable process
    variable channel
    if {$process ne ""} {
        if {[catch {open "|[list {*}$process $database 2>@ stderr]" r+b} channel]} {
            set message $channel
            set channel ""
            fail "cannot run $process" "got error: $message"
        }
    } else {
        sqlite3 db $database
        db nullvalue $null
    }
    foreach extension $extensions {load_extension $extension ""}
    if {$encoding eq ""} return
    try {
        execute "PRAGMA encoding = '$encoding'"
    } trap {SLT SQL} message {
        fail "no encoding '$encoding'" "got error: $message"
    }
}

proc slt::close_database {name} {
    variable database
    variable process
    variable channel
    if {$process ne ""} {
        if {$channel ne "" && [catch {close $channel} message]} {
            report_failure $name "the process ended badly" {} [list $message]
        }
    } else {
        db close
    }
    if {$database ne ":memory:"} {
        file delete $database $database-journal $database-wal $database-shm
    }
}

proc slt::run_file {path} {
    variable line_number 0
    variable hash_threshold 8
    variable labels
    variable num_passed
    variable num_failed
    array unset labels
    set num_before [expr {$num_passed + $num_failed}]
    set name [encoding convertto utf-8 $path]

    if {[catch {read_bytes $path} content]} {
        report_failure $name "cannot read: [encoding convertto utf-8 $content]" {} {}
        return
    }
    # The last record may lack its blank line, and the last line its newline.
    set lines [split [string map {\r\n \n} $content\n] \n]
    set encodings [lrange [lsearch -inline $lines "encodings *"] 1 end]
    if {![llength $encodings]} {set encodings [list ""]}
    foreach encoding $encodings {
        try {
            open_database $encoding
            run_records [string trimright "$name $encoding"] $lines
        } trap {SLT FAIL} {title options} {
            report_failure $name $title {} [lindex [dict get $options -errorcode] 2]
        } finally {
            close_database $name
        }
    }
    if {$num_passed + $num_failed == $num_before} {report_failure $name "no record ran" {} {}}
}

# A record is a run of lines that are not blank; comment lines do not count at all.
proc slt::run_records {name lines} {
    variable num_passed
    variable line_number
    set number 0
    set record {}
    set numbers {}
    foreach line $lines {
        incr number
        if {[string index $line 0] eq "#"} continue
        if {[string trim $line] ne ""} {
            lappend record $line
            lappend numbers $number
            continue
        }
        if {![llength $record]} continue
        set outcome ""
        try {
            set outcome [run_record $record $numbers]
        } trap {SLT FAIL} {title options} {
            report_failure $name:$line_number $title $record \
                [lindex [dict get $options -errorcode] 2]
        }
        switch $outcome {
            passed {incr num_passed}
            halt   return
        }
        set record {}
        set numbers {}
    }
}

proc slt::test_files {path} {
    if {![file isdirectory $path]} {return [list $path]}
    set files [lsort [glob -nocomplain -directory $path -types f *.test]]
    foreach directory [lsort [glob -nocomplain -directory $path -types d *]] {
        lappend files {*}[test_files $directory]
    }
    return $files
}

# ---------------------------------------------------------------- command line

set slt::usage {usage: tclsh sqllogictest.tcl ?option ...? FILE-OR-DIRECTORY ...

Runs sqllogictest files, and all *.test files of directories, each on a new database.
The exit status is 0 if records ran and none failed, 1 if not, 2 for bad arguments.

  --load EXTENSION   load it before every file; may be repeated
  --sqlite LIBRARY   use the SQLite of this Tcl package (a tclsqlite3.so)
  --process COMMAND  use the SQLite of this program, which is run with the database's
                     path as its last argument (see test/platforms/machines/sql_process.c)
  --db FILE          keep the database in this file, which must not exist and is
                     deleted after each test file; without it the database is in memory
  --help             print this
}

proc slt::bad_arguments {message} {
    variable usage
    puts stderr "sqllogictest.tcl: $message\n\n$usage"
    exit 2
}

proc slt::main {arguments} {
    variable usage
    variable extensions
    variable database
    variable process
    variable num_passed
    variable num_failed

    set sqlite ""
    set paths {}
    while {[llength $arguments]} {
        set arguments [lassign $arguments argument]
        if {$argument in {--load --sqlite --process --db}} {
            if {![llength $arguments]} {bad_arguments "$argument needs a value"}
            set arguments [lassign $arguments value]
        }
        switch -glob -- $argument {
            --load    {lappend extensions $value}
            --sqlite  {set sqlite $value}
            --process {set process $value}
            --db      {set database $value}
            --help    {puts -nonewline $usage; exit 0}
            -*        {bad_arguments "unknown option $argument"}
            default   {lappend paths $argument}
        }
    }
    if {![llength $paths]} {bad_arguments "no test file given"}
    if {$database ne ":memory:" && [file exists $database]} {
        bad_arguments "$database exists; --db would delete it"
    }
    if {$process ne ""} {
        # Its own.
    } elseif {$sqlite ne ""} {
        if {[catch {load $sqlite Sqlite3} message]} {bad_arguments $message}
    } elseif {[catch {package require sqlite3} message]} {
        bad_arguments "$message (Debian has it as libsqlite3-tcl)"
    }

    if {$process eq ""} {sqlite3 ::slt::renderer :memory:}
    fconfigure stdout -translation binary
    foreach path $paths {
        set files [test_files $path]
        if {![llength $files]} {report_failure $path "no *.test file in it" {} {}}
        foreach file $files {run_file $file}
    }
    if {$slt::seed_is_used} {puts "note: seed $slt::seed; BLOOM_TEST_SEED=$slt::seed draws the same"}
    puts "$num_passed passed, $num_failed failed"
    exit [expr {$num_failed > 0 || $num_passed == 0}]
}

slt::main $argv
