#!/usr/bin/env tclsh
# Runs files of SQL and what it gives on SQLite, through SQLite's own Tcl package or through a
# process that speaks test/platforms/machines/sql_process.c's protocol.
#
#   tclsh test/sql/runner/sqllogictest.tcl ?--load EXTENSION? FILE-OR-DIRECTORY ...
#
# In the manner of sqllogictest (https://sqlite.org/sqllogictest/doc/trunk/about.wiki) a file has
# records; lines that begin with # are comments:
#   each ?TYPES?                          each case below, down to the next directive, is a query, " => "
#                                         and its rows, parted by " ; ", the values of a row by " | "; a
#                                         letter of TYPES is I, R or T, a column's type as which its values
#                                         print; without TYPES all are T, and there may be any number of them
#                                         " =! " instead, and a regular expression: the statement fails
#   skipif NAME                           before each: `--engine NAME` leaves the record out
#   encodings NAME ...                    at the top of a file: it runs once for each, on a
#                                         database of that encoding
#   $SEED in SQL                          an integer, drawn again in each run and printed at
#                                         its end; BLOOM_TEST_SEED sets it
# SQL above a ---- in `each` is a template: what stands before the arrow takes the place of $1 in
# it, or, parted by " | ", the places of $1, $2 ... Of the statements of a query one has columns.
# A case ends with the line that has the arrow: statements may stand on lines of their own before it,
# and succeed also where the last one fails.
# A query that fails after its first row fails, and too few or too many expected values fail; so does
# a directive that means nothing, and a file of which no case ran.

package require Tcl 8.6

namespace eval slt {
    variable directives {each skipif encodings}

    # Stands for NULL on the way from SQLite to Tcl and back: new in each run, so that no
    # test can write it as a text.
    variable null "\x01NULL [pid] [clock clicks] [expr {rand()}]"

    # Options, and what belongs to the whole run.
    variable extensions {} process {} encoding "" engines {} num_passed 0 num_failed 0 seed_is_used no
    variable seed [expr {[info exists ::env(BLOOM_TEST_SEED)] ? wide($::env(BLOOM_TEST_SEED)) : [clock microseconds] % 1000000000}]

    # The file being run: its name and, if it has several, encoding; where it is, "" before and
    # after its records.
    variable name "" line_number ""

    # What the query being run has had so far: the names of a statement's columns, the place of
    # the next value among them, the number of columns of each statement, and the values.
    variable column_names {} column 0 column_counts {} values {}
}

# ---------------------------------------------------------------- text and bytes

# Files are read and reports are written as bytes, one character each; only SQLite sees
# text. Decoding UTF-8 would not do: Tcl 8.6 breaks characters above U+FFFF into two.
set slt::sqlite_encoding [expr {"identity" in [encoding names] ? "identity" : "utf-8"}]

proc slt::text_of_bytes {bytes} {encoding convertfrom $slt::sqlite_encoding $bytes}
proc slt::bytes_of_text {text} {encoding convertto $slt::sqlite_encoding $text}

# ---------------------------------------------------------------- running SQL

# The Tcl package binds the caller's variable x to $x, :x and @x. So the two procedures
# that call `db eval` have no variable but those whose names hold a space. A newline goes
# before the SQL, for a comment at its start would be taken for an option.

proc slt::execute {{{the sql}}} {
    if {$slt::process ne ""} {
        request execute [bytes_of_text ${the sql}]
    } elseif {[catch {db eval "\n${the sql}"} {the message}]} {
        throw {SLT SQL} [bytes_of_text ${the message}]
    }
}

# `db eval` into an array names the columns even where there is no row, and the trace
# sees each value in turn, even where two columns share a name.
proc slt::execute_query {{{the sql}}} {
    trace add variable {the row} write ::slt::take_value
    if {[catch {db eval "\n${the sql}" {the row} {}} {the message}]} {
        throw {SLT SQL} [bytes_of_text ${the message}]
    }
}

# The values of a query, row by row, rendered as the types of their columns; without types all are T.
# Sets the variable num_columns.
proc slt::query_values {types sql} {
    variable column_names {} column 0 column_counts {} values {}
    if {[regexp {[^TIR]} $types type]} {fail "unknown column type '$type'"}
    if {$slt::process ne ""} {
        request query [expr {$types eq "" ? "T" : $types}]\n[bytes_of_text $sql]
    } else {
        execute_query $sql
    }
    # CREATE, INSERT and the like have no columns.
    set column_counts [lsearch -all -inline -not $column_counts 0]
    if {[llength $column_counts] != 1} {
        fail "one statement of a query must have columns, not [llength $column_counts]"
    }
    variable num_columns [lindex $column_counts 0]
    if {$types eq ""} {set types [string repeat T $num_columns]}
    if {$num_columns != [string length $types]} {
        fail "wrong number of columns: expected [string length $types], got $num_columns"
    }
    # No `expr` may choose: a value such as 0001 would become a number.
    if {$slt::process ne ""} {return $values}
    render $types $values
}

# Element "*", the list of column names, comes once a statement before its rows. A
# column may have that name too, but then it is one of the row.
proc slt::take_value {array element operation} {
    variable column_names
    variable column
    upvar 1 $array row
    if {$element eq "*" && $column == 0 && [lindex $column_names 0] ne "*"} {
        # In old SQLite, 3.31 among them, ALTER TABLE ... RENAME has a column "1" and never a row.
        if {$column_names eq "1" && $slt::values eq ""} {set slt::column_counts [lrange $slt::column_counts 0 end-1]}
        set column_names $row(*)
        lappend slt::column_counts [llength $column_names]
        return
    }
    lappend slt::values $row($element)
    if {[incr column] == [llength $column_names]} {set column 0}
}

# Sends one request to the process and takes its reply: lines up to ok or error, where
# a number says how many bytes follow.
proc slt::request {operation bytes} {
    variable channel
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
                columns {lappend slt::column_counts $number}
                value   {lappend slt::values [printable $text]}
                null    {lappend slt::values NULL}
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
array set slt::rendered_as {
    I {CAST(CAST($value AS INTEGER) AS TEXT)} R {printf('%.3f', CAST($value AS REAL))} T {CAST($value AS TEXT)}
}

proc slt::render {types values} {
    variable null
    set types [split $types ""]
    set column 0
    lmap value $values {
        set as $slt::rendered_as([lindex $types $column])
        set column [expr {($column + 1) % [llength $types]}]
        set text [renderer onecolumn "SELECT CASE WHEN \$value = \$null THEN 'NULL' ELSE $as END"]
        if {[regexp {[^ -~]} $text]} {
            set text [renderer onecolumn {SELECT CAST(CAST($value AS TEXT) AS BLOB)}]
        }
        printable $text
    }
}

# One @ for each byte, not for each character. A NUL ends the text, as in C.
proc slt::printable {bytes} {
    regsub {\x00.*} $bytes "" bytes
    if {$bytes eq ""} {return (empty)}
    regsub -all {[^ -~]} $bytes @
}

# Rows of the last query as texts, their values parted by this.
proc slt::rows_of {values separator} {
    set rows {}
    for {set i 0} {$i < [llength $values]} {incr i $slt::num_columns} {
        lappend rows [join [lrange $values $i $i+[expr {$slt::num_columns - 1}]] $separator]
    }
    return $rows
}

# ---------------------------------------------------------------- records

# Ends the record; the details are lines for the report.
proc slt::fail {title args} {throw [list SLT FAIL $args] $title}

# Runs a record, given as its lines without comments and their numbers.
proc slt::run_record {lines numbers} {
    variable line_number
    set skipped no
    while {1} {
        set lines [lassign $lines line]
        set numbers [lassign $numbers line_number]
        lassign [regexp -all -inline {[^ \t]+} $line] directive word more
        if {$directive ne "skipif"} break
        if {[string tolower $word] in $slt::engines} {set skipped yes}
    }
    if {$directive eq "encodings" && ![llength $lines]} return
    if {$directive ne "each"} {fail "unknown directive '$directive'"}
    if {$more ne ""} {fail "unexpected word '$more'"}
    if {![llength $lines]} {fail "each without SQL"}
    if {!$skipped} {run_each $word $lines $numbers}
}

proc slt::sql_of {bytes} {
    if {[string first {$SEED} $bytes] >= 0} {set slt::seed_is_used yes}
    text_of_bytes [string map [list {$SEED} $slt::seed] $bytes]
}

proc slt::check_fails {pattern sql} {
    try {
        execute $sql
    } trap {SLT SQL} message {
        if {[catch {regexp -- $pattern $message} matches] || !$matches} {
            fail "wrong error message" "expected error: $pattern" "got error:      $message"
        }
        return
    }
    fail "statement did not fail" "expected error: $pattern"
}

proc slt::check_equal {expected got} {
    if {$expected eq $got} return
    set first 0
    while {[lrange $expected $first $first] eq [lrange $got $first $first]} {incr first}
    set from [expr {max(0, $first - 3)}]
    fail "wrong result" "expected [llength $expected] lines, got [llength $got]; line [incr first] is the first to differ" \
        {*}[clip "expected: " [lrange $expected $from end]] {*}[clip "got:      " [lrange $got $from end]]
}

# Each case is a test of its own, which passes or fails here.
proc slt::run_each {types body numbers} {
    variable line_number
    set dashes [lsearch -exact $body ----]
    set template {$1}
    if {$dashes >= 0} {set template [join [lrange $body 0 $dashes-1] \n]}
    if {$dashes == [llength $body] - 1} {fail "each without a case"}
    set case {}
    foreach line [lrange $body $dashes+1 end] line_number [lrange $numbers $dashes+1 end] {
        lappend case $line
        if {[regexp { =[>!]( |$)} $line]} {
            attempt $case {run_case $types $template [join $case \n]}
            set case {}
        }
    }
    if {[llength $case]} {attempt $case {fail "a case has no arrow"}}
}

proc slt::run_case {types template case} {
    regexp {^(.*) =([>!])(?: (.*))?$} $case -> arguments arrow expected
    set places [lsort -unique [regexp -all -inline {\$\d} $template]]
    if {[llength $places] < 2} {set arguments [list $arguments]} else {set arguments [split_at " | " $arguments]}
    if {[llength $places] != [llength $arguments]} {
        fail "the template has [llength $places] places, the case [llength $arguments] values"
    }
    set sql [string map [concat {*}[lmap place $places argument $arguments {list $place $argument}]] $template]
    if {$arrow eq "!"} {
        regexp {^(.*;\n)?(.*)$} $sql -> before last
        execute [sql_of $before]
        check_fails $expected [sql_of $last]
    } else {
        check_equal [split_at " ; " $expected] [rows_of [query_values $types [sql_of $sql]] " | "]
    }
    incr slt::num_passed
}

proc slt::split_at {separator text} {split [string map [list $separator \x01] $text] \x01}

# ---------------------------------------------------------------- reporting

# Lines for a report: the first gets the prefix, the others stand below it.
proc slt::clip {prefix lines} {
    set clipped {}
    foreach line [lrange $lines 0 19] {
        lappend clipped $prefix[string range $line 0 199][expr {[string length $line] > 200 ? "..." : ""}]
        set prefix [string repeat " " [string length $prefix]]
    }
    if {[llength $lines] > 20} {lappend clipped "$prefix... ([expr {[llength $lines] - 20}] lines more)"}
    return $clipped
}

proc slt::report_failure {title {details {}}} {
    incr slt::num_failed
    puts "$slt::name[expr {$slt::line_number eq "" ? "" : ":$slt::line_number"}]: $title"
    foreach detail $details {puts "    $detail"}
}

# Runs a script of the caller, and reports what fails in it as of these lines.
proc slt::attempt {lines script} {
    try {
        uplevel 1 $script
    } trap {SLT FAIL} {title options} {
        report_failure $title [concat [clip "" $lines] [lindex [dict get $options -errorcode] 2]]
    } trap {SLT SQL} message {
        report_failure "SQL failed" [concat [clip "" $lines] [list "got error: $message"]]
    }
}

# ---------------------------------------------------------------- files

# Loading is allowed for this one call: tests see the connection as SQLite opens it.
proc slt::load_extension {path} {
    try {
        if {$slt::process ne ""} {
            request load [bytes_of_text $path]\n
        } else {
            db enable_load_extension 1
            db eval {SELECT load_extension($path)}
            db enable_load_extension 0
        }
    } on error message {
        fail "cannot load [bytes_of_text $path]" "got error: [bytes_of_text $message]"
    }
}

proc slt::open_database {encoding} {
    variable channel ""
    if {$slt::process eq ""} {
        sqlite3 db :memory:
        db nullvalue $slt::null
    } elseif {[catch {open "|[list {*}$slt::process :memory: 2>@ stderr]" r+b} opened]} {
        fail "cannot run $slt::process" "got error: $opened"
    } else {
        set channel $opened
    }
    foreach extension $slt::extensions {load_extension $extension}
    if {$encoding ne ""} {execute "PRAGMA encoding = '$encoding'"}
}

proc slt::close_database {} {
    if {$slt::process eq ""} {
        db close
    } elseif {$slt::channel ne "" && [catch {close $slt::channel} message]} {
        report_failure "the process ended badly" [list $message]
    }
}

# A record is a run of lines that are not blank; `each` goes on to the next directive. Comment
# lines do not count at all. Returns the lines of each record and their numbers, in turn.
proc slt::records_of {lines} {
    set records {}
    set record {}
    set numbers {}
    set is_each no
    set number 0
    foreach line $lines {
        incr number
        if {[string match #* $line]} continue
        regexp {^[ \t]*([^ \t]*)} $line -> word
        if {$is_each ? $is_blank && $word in $slt::directives : $word eq ""} {
            if {[llength $record]} {lappend records $record $numbers}
            set record {}
            set numbers {}
            set is_each no
        }
        set is_blank [expr {$word eq ""}]
        if {$is_blank} continue
        lappend record $line
        lappend numbers $number
        if {$word eq "each"} {set is_each yes}
    }
    if {[llength $record]} {lappend records $record $numbers}
    return $records
}

proc slt::run_file {path} {
    variable name [encoding convertto utf-8 $path]
    set num_before [expr {$slt::num_passed + $slt::num_failed}]
    set file_name $name
    if {[catch {open $path rb} channel]} {
        report_failure "cannot read: [encoding convertto utf-8 $channel]"
        return
    }
    set lines [split [string map {\r\n \n} [read $channel]] \n]
    close $channel
    set encodings [lrange [lsearch -inline $lines "encodings *"] 1 end]
    if {![llength $encodings]} {set encodings [list ""]} elseif {$slt::encoding ne ""} {set encodings $slt::encoding}
    foreach encoding $encodings {
        set name [string trimright "$file_name $encoding"]
        attempt {} {
            open_database $encoding
            foreach {record numbers} [records_of $lines] {attempt $record {run_record $record $numbers}}
        }
        set slt::line_number ""
        close_database
    }
    if {$slt::num_passed + $slt::num_failed == $num_before} {report_failure "no record ran"}
}

proc slt::test_files {path} {
    if {![file isdirectory $path]} {return [list $path]}
    concat [lsort [glob -nocomplain -directory $path -types f *.test]] \
        {*}[lmap folder [lsort [glob -nocomplain -directory $path -types d *]] {test_files $folder}]
}

# ---------------------------------------------------------------- command line

set slt::usage {usage: tclsh sqllogictest.tcl ?option ...? FILE-OR-DIRECTORY ...

Runs such files, and all *.test files of directories, each on a new database.
The exit status is 0 if records ran and none failed, 1 if not, 2 for bad arguments.

  --load EXTENSION   load it before every file; may be repeated
  --encoding NAME    a file that names encodings runs in this one alone
  --engine NAME      leaves out records under `skipif NAME`
  --sqlite LIBRARY   use the SQLite of this Tcl package (a tclsqlite3.so)
  --process COMMAND  use the SQLite of this program, which is run with :memory: as its
                     last argument (see test/platforms/machines/sql_process.c)
}

proc slt::bad_arguments {message} {
    puts stderr "sqllogictest.tcl: $message\n\n$slt::usage"
    exit 2
}

proc slt::main {arguments} {
    set sqlite ""
    set paths {}
    while {[llength $arguments]} {
        set arguments [lassign $arguments argument]
        if {$argument in {--load --encoding --engine --sqlite --process}} {
            if {![llength $arguments]} {bad_arguments "$argument needs a value"}
            set arguments [lassign $arguments value]
        }
        switch -glob -- $argument {
            --load    {lappend slt::extensions $value}
            --encoding {set slt::encoding $value}
            --engine  {lappend slt::engines [string tolower $value]}
            --sqlite  {set sqlite $value}
            --process {set slt::process $value}
            -*        {bad_arguments "unknown option $argument"}
            default   {lappend paths $argument}
        }
    }
    if {![llength $paths]} {bad_arguments "no test file given"}
    if {$slt::process eq ""} {
        if {[catch {if {$sqlite ne ""} {load $sqlite Sqlite3} else {package require sqlite3}} message]} {
            bad_arguments "$message (Debian has SQLite's Tcl package as libsqlite3-tcl)"
        }
        sqlite3 ::slt::renderer :memory:
    }
    fconfigure stdout -translation binary
    foreach path $paths {
        set files [test_files $path]
        set slt::name $path
        if {![llength $files]} {report_failure "no *.test file in it"}
        foreach file $files {run_file $file}
    }
    if {$slt::seed_is_used} {puts "note: seed $slt::seed; BLOOM_TEST_SEED=$slt::seed draws the same"}
    puts "$slt::num_passed passed, $slt::num_failed failed"
    exit [expr {$slt::num_failed > 0 || $slt::num_passed == 0}]
}

slt::main $argv
