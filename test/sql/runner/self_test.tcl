#!/usr/bin/env tclsh
# Tests the runner itself: on pass.test, of which every case passes, and one fails
# if any one expected value is changed; on records that fail; then the command line.  With a PROCESS (test/platforms/machines/sql_process) the same once more through it.
#
#   tclsh test/sql/runner/self_test.tcl ?PROCESS?

set folder [file dirname [file normalize [info script]]]
set num_passed 0
set num_failed 0

proc check {name wanted got} {
    incr ::num_[expr {$wanted eq $got ? "passed" : "failed"}]
    if {$wanted ne $got} {puts "$name\n    wanted: $wanted\n    got:    $got"}
}

# Runs the runner; returns what it printed. Its exit status and the last line are as wanted.
proc run_runner {name wanted args} {
    set command [list [info nameofexecutable] $::folder/sqllogictest.tcl {*}$::options {*}$args 2>@1]
    set channel [open |$command rb]
    set output [encoding convertfrom utf-8 [read $channel]]
    set status 0
    if {[catch {close $channel} - details]} {set status [lindex [dict get $details -errorcode] 2]}
    check $name 1 [string match $wanted "$status [lindex [split [string trimright $output \n] \n] end]"]
    return $output
}

proc read_text {path} {
    set channel [open $path]
    fconfigure $channel -encoding utf-8 -translation lf
    set text [read $channel]
    close $channel
    return $text
}

proc new_file {name text} {
    set channel [open [file join $::scratch $name] w]
    fconfigure $channel -encoding utf-8 -translation lf
    puts -nonewline $channel $text
    close $channel
    file join $::scratch $name
}

proc test_pass {} {
    set text [read_text $::folder/pass.test]
    regexp -line {^#= (.*)$} $text -> summary
    run_runner "pass.test" "0 $summary" $::folder/pass.test
    run_runner "with CRLF, without the last newline" "0 $summary" \
        [new_file crlf.test [string map {\n \r\n} [string trimright $text \n]]]

    # Every expected value in turn is changed; in both encodings one record fails.
    set mutants {}
    set number -1
    foreach line [set lines [split $text \n]] {
        incr number
        if {[regexp { =([>!])( |$)} $line -> arrow]} {
            lappend mutants $number "$line [expr {$arrow eq "!" ? "\\yx" : "x"}]"
        }
    }
    check "values were changed" 1 [expr {[llength $mutants] > 40}]
    set files [lmap {number changed} $mutants {new_file mutant-$number.test [join [lreplace $lines $number $number $changed] \n]}]
    set output [run_runner "mutants" "1 *" {*}$files]
    foreach file $files {check "value changed: [file tail $file]" 2 [regexp -all -line "^$file \\S+:\\d+: .*" $output]}
}

# Records that fail, each in a file of its own; the line and the title of the one failure that
# is reported; and lines of the report below it.
set failing {
    {each\nCREATE TABLE t(\n =! ^no}                   3 {wrong error message} {{CREATE TABLE t(} {got error:      incomplete input}}
    {each\nSELECT 1; SELECT no_such_column => 1}       2 {SQL failed} {{got error: no such column: no_such_column}}
    {each}                                             1 {each without SQL} {}
    {each I really\nSELECT 1 => 1}                     1 {unexpected word 'really'} {}
    {each\nSELECT =! (}                                2 {wrong error message} {}
    {each\nSELECT * FROM "\u00e9\u20ac" =! ^such table} 2 {wrong error message}
        {{expected error: ^such table} "got error:      no such table: \u00e9\u20ac"}
    {  a)}                                             1 {unknown directive 'a)'} {}
    {halt\nSELECT 1}                                   1 {unknown directive 'halt'} {}

    {each III\nSELECT 1, 2 WHERE 0 =>}                 2 {wrong number of columns: expected 3, got 2} {}
    {each I\nCREATE TABLE u(a) =>}                     2 {one statement of a query must have columns, not 0} {}
    {each I\nSELECT 1; SELECT 2 => 1 ; 2}              2 {one statement of a query must have columns, not 2} {}
    {each IX\nSELECT 1, 2 => 1 | 2}                    2 {unknown column type 'X'} {}
    {each\nSELECT abs(column1) FROM (VALUES (1), (-9223372036854775808)) => 1} 2 {SQL failed} {{got error: integer overflow}}
    {each\nVALUES (1, 2), (3, 4) => 1 | 2 ; 3 | 5}     2 {wrong result} {{expected 2 lines, got 2; line 2 is the first to differ} {got:      1 | 2} {3 | 4}}
    {each\nSELECT 1 =>}                                2 {wrong result} {{expected 0 lines, got 1; line 1 is the first to differ}}

    {each\nSELECT NULL, '', 'a ', 1.0, char(233) => (empty) | NULL | a | 1 | @} 2 {wrong result}
        {{expected: (empty) | NULL | a | 1 | @} {got:      NULL | (empty) | a  | 1.0 | @@}}
    {each\nSELECT 1, 2 => 1 ; 2}                       2 {wrong result} {}
    {each\nSELECT 1 UNION ALL SELECT 2 => 1}           2 {wrong result} {}
    {each\nSELECT 7 => 7\nSELECT 1;\nSELECT 7 =! .}    4 {statement did not fail} {}
    {each\nCREATE TABLE t(;\nSELECT =! .}              3 {SQL failed} {}
    {each\nCREATE TABLE t(;\nSELECT 7 => 7}            3 {SQL failed} {{SELECT 7 => 7}}
    {each\nSELECT no_such_column =! other}             2 {wrong error message} {}
    {each\nSELECT 7 => 7\n\nSELECT 8}                  4 {a case has no arrow} {}
    {each\nSELECT $1 + $2\n----\n1 => 2}               4 {the template has 2 places, the case 1 values} {}
    {each\nSELECT load_extension('./none') => NULL}    2 {SQL failed} {{got error: not authorized}}
}

proc test_fail {} {
    set files {}
    foreach {record line title details} $::failing {
        lappend files [new_file fail-[llength $files].test [subst -nocommands -novariables $record]]
    }
    set output [run_runner "failing records" "1 * passed, [llength $files] failed" {*}$files]
    foreach {record line title details} $::failing file $files {
        set report {}
        regexp -line "^$file:.*\n(?: .*\n)*" $output report
        set report [lmap text [split $report \n] {string trim $text}]
        check $record "$file:$line: $title" [lindex $report 0]
        foreach detail $details {check "$record: $detail" 1 [expr {$detail in $report}]}
    }
    check "each fails once" [llength $files] [regexp -all -line "^$::scratch/fail-" $output]
}

proc test_command_line {good bad} {
    # Each file has its own database.
    run_runner "two files" "0 4 passed, 0 failed" $good $good
    run_runner "a failing file and a good one" "1 3 passed, 1 failed" $bad $good
    run_runner "nothing ran" "1 2 passed, 1 failed" --engine slow [new_file empty.test "# nothing\n\nskipif slow\neach\nSELECT 1 => 1\n"] $good
    run_runner "a file that is not there" "1 2 passed, 1 failed" $::scratch/none.test $good
    run_runner "an encoding that there is not" "1 0 passed, 1 failed" [new_file utf7.test "encodings UTF-7\n\neach\nSELECT 1 => 1\n"]

    set skips [new_file skips.test "skipif slow\neach\nSELECT 1 => 2\n\neach\nSELECT 1 => 1\n"]
    run_runner "what another engine skips" "1 1 passed, 1 failed" $skips
    run_runner "what this one skips" "0 1 passed, 0 failed" --engine SLOW $skips

    # The seed is that of the environment, and is printed; else each run draws one.
    set seeded [new_file seeded.test "each\nSELECT \$SEED + 1 => 124\n"]
    set ::env(BLOOM_TEST_SEED) 123
    check "a seed that is given" 1 [regexp "^note: seed 123; .*\n" [run_runner "seeded" "0 1 passed, 0 failed" $seeded]]
    unset ::env(BLOOM_TEST_SEED)
    check "seeds that are drawn" 0 [string equal {*}[lmap run {1 2} {run_runner "drawn" "1 0 passed, 1 failed" $seeded}]]

    # Directories: all of their *.test files, at any depth; none is a failure.
    file mkdir $::scratch/tree/a/b $::scratch/bare
    file copy $good $::scratch/tree/a
    file copy $good $::scratch/tree/a/b
    file copy $bad $::scratch/tree/a/b/note.txt
    run_runner "a directory" "0 4 passed, 0 failed" $::scratch/tree
    run_runner "a directory without tests" "1 0 passed, 1 failed" $::scratch/bare

    # --sqlite: here the library that is installed, by its path.
    package require sqlite3
    run_runner "--sqlite" "0 2 passed, 0 failed" --sqlite [lindex [lsearch -inline -index 1 [info loaded] Sqlite3] 0] $good
    run_runner "--load without an extension" "1 0 passed, 2 failed" --load ./no-such-extension $good $good
    foreach {arguments message} [list {} "no test file given" --loud "unknown option --loud" --load "--load needs a value" \
            [list --sqlite $good $good] "couldn't load file"] {
        set output [run_runner "arguments: $arguments" "2 *" {*}$arguments]
        check "arguments: $arguments" 1 [regexp "^sqllogictest.tcl: $message.*\n\nusage: tclsh" $output]
    }
    # Loading is allowed for that call only.
    set version [new_file version.test "each\nSELECT bloom_version() IS NOT NULL => 1\nSELECT load_extension('x') =! not authorized\n"]
    run_runner "--load" "0 4 passed, 0 failed" --load $::folder/../../../bloom.so $version $version
}

fconfigure stdout -encoding utf-8
close [file tempfile scratch]
file delete $scratch
file mkdir $scratch
try {
    foreach options [list {} {*}[lmap process $argv {list --process $process}]] {
        test_pass
        test_fail
    }
    set options {}
    set good [new_file good.test "each\nCREATE TABLE t(a);\nSELECT 1 => 1\nSELECT 2 => 2\n"]
    set bad [new_file bad.test "each\nSELECT 2 => 2\nSELECT => 2\n"]
    test_command_line $good $bad
    # A process may end too soon, or say something else.
    foreach process $argv {
        run_runner "a process that is missing" "1 0 passed, 1 failed" --process ./no-such-process $good
        run_runner "a process that ends" "1 0 passed, 2 failed" --process true $good
        run_runner "a process that is a cat" "1 0 passed, ? failed" --process {sh -c cat} $good
        run_runner "a process that ends badly" "1 2 passed, 1 failed" --process [list sh -c "$process \$0; exit 3"] $good
    }
} finally {
    file delete -force $scratch
}
puts "$num_passed passed, $num_failed failed"
exit [expr {$num_failed > 0 || $num_passed == 0}]
