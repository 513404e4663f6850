#!/usr/bin/env tclsh
# Tests the sqllogictest runner itself: on pass.test, of which every record passes, and one fails
# if any one expected value is changed; on fail.test, whose records fail as it says; then the
# command line.  With a PROCESS (test/platforms/machines/sql_process) the same once more through it.
#
#   tclsh test/sql/runner/self_test.tcl ?PROCESS?

set folder [file dirname [file normalize [info script]]]
set num_passed 0
set num_failed 0

# Runs the runner; returns its exit status and what it printed.
proc run_runner {args} {
    set command [list [info nameofexecutable] $::folder/sqllogictest.tcl {*}$::options {*}$args 2>@1]
    set channel [open |$command rb]
    set output [encoding convertfrom utf-8 [read $channel]]
    set status 0
    if {[catch {close $channel} - details]} {set status [lindex [dict get $details -errorcode] 2]}
    list $status $output
}

proc check {name wanted got} {
    incr ::num_[expr {$wanted eq $got ? "passed" : "failed"}]
    if {$wanted ne $got} {puts "$name\n    wanted: $wanted\n    got:    $got"}
}

proc check_run {name wanted args} {
    lassign [run_runner {*}$args] status output
    check $name $wanted "$status [lindex [split [string trimright $output \n] \n] end]"
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
    check_run "pass.test" "0 $summary" $::folder/pass.test
    check_run "with CRLF, without the last newline" "0 $summary" \
        [new_file crlf.test [string map {\n \r\n} [string trimright $text \n]]]

    # Every expected value in turn is changed; in both encodings one record fails.
    set mutants {}
    set number -1
    set is_value no
    foreach line [split $text \n] {
        incr number
        set changed "x$line"
        if {$line eq ""} {set is_value no}
        if {$line eq "SELECT 1 => 2"} continue ; # it is skipped
        if {[regexp { =([>!]) } $line -> arrow]} {
            set changed "${line}[expr {$arrow eq "!" ? "\\yx" : "x"}]"
        } elseif {$line eq "----"} {
            set is_value yes
            continue
        } elseif {!$is_value || [string match #* $line]} continue
        lappend mutants [new_file mutant-$number.test [join [lreplace [split $text \n] $number $number $changed] \n]]
    }
    lassign [run_runner {*}$mutants] - output
    check "values were changed" 1 [expr {[llength $mutants] > 40}]
    foreach mutant $mutants {
        check "value changed: [file tail $mutant]" 2 [regexp -all -line "^$mutant \\S+:\\d+: .*" $output]
    }
}

# What fail.test promises, and the same of what is printed; other lines may stand between them.
proc test_fail {} {
    set path $::folder/fail.test
    lassign [run_runner $path] status output
    set printed [lmap line [split $output \n] {string trim $line}]
    set number 0
    foreach line [split [read_text $path] \n] {
        incr number
        if {[regexp {^#! (\S+): (.*)} $line -> word title]} {
            set at [lsearch -exact $printed "$path:$number_of($word): $title"]
            check "$path:$number: $title" 1 [expr {$at >= 0}]
        } elseif {[regexp {^#~ (.*)} $line -> text]} {
            check "$path:$number: $text" 1 [expr {[lsearch -exact -start $at $printed $text] >= 0}]
        } elseif {[regexp {^#= (.*)} $line -> summary]} {
            check "$path" "1 $summary" "$status [lindex $printed end-1]"
        } else {
            set number_of([lindex [regexp -inline {\S+} $line] 0]) $number
        }
    }
    check "no other failure" [regexp -all -line {^#! } [read_text $path]] [regexp -all -line "^$path:" $output]
}

proc test_command_line {} {
    set good [new_file good.test "statement ok\nCREATE TABLE t(a)\n\nquery T nosort label\nSELECT 1\n----\n1\n"]
    set bad [new_file bad.test "query I nosort label\nSELECT 2\n----\n2\n\nstatement ok\nSELECT\n"]
    set empty [new_file empty.test "# nothing\n\nskipif sqlite\nstatement ok\nSELECT 1\n"]
    # Each file has its own database and labels.
    check_run "two files" "0 4 passed, 0 failed" $good $good
    check_run "a failing file and a good one" "1 3 passed, 1 failed" $bad $good
    check "nothing ran" 1 [regexp "$empty: no record ran\n" [check_run "nothing ran" "1 2 passed, 1 failed" $good $empty]]
    check_run "a file that is not there" "1 2 passed, 1 failed" $::scratch/none.test $good
    check_run "an encoding that there is not" "1 0 passed, 1 failed" [new_file utf7.test "encodings UTF-7\n\nstatement ok\nSELECT 1\n"]

    # The seed is that of the environment, and is printed; else each run draws one.
    set seeded [new_file seeded.test "query I\nSELECT \$SEED + 1\n----\n124\n"]
    set ::env(BLOOM_TEST_SEED) 123
    check "a seed that is given" 1 [regexp "^note: seed 123; .*\n" [check_run "seeded" "0 1 passed, 0 failed" $seeded]]
    unset ::env(BLOOM_TEST_SEED)
    check "seeds that are drawn" 0 [string equal [run_runner $seeded] [run_runner $seeded]]

    # Directories: all of their *.test files, at any depth; none is a failure.
    file mkdir $::scratch/tree/a/b $::scratch/bare
    file copy $good $::scratch/tree/a
    file copy $good $::scratch/tree/a/b
    file copy $bad $::scratch/tree/a/b/note.txt
    check_run "a directory" "0 4 passed, 0 failed" $::scratch/tree
    check_run "a directory without tests" "1 0 passed, 1 failed" $::scratch/bare

    # --sqlite: here the library that is installed, by its path.
    package require sqlite3
    check_run "--sqlite" "0 2 passed, 0 failed" --sqlite [lindex [lsearch -inline -index 1 [info loaded] Sqlite3] 0] $good
    check "--sqlite with no library" 2 [lindex [run_runner --sqlite $good $good] 0]
    check_run "--load without an extension" "1 0 passed, 2 failed" --load ./no-such-extension $good $good
    foreach {arguments message} {{} {no test file given} --loud {unknown option --loud} --load {--load needs a value}} {
        lassign [run_runner {*}$arguments] status output
        check "arguments: $arguments" "2 1" "$status [regexp "^sqllogictest.tcl: $message\n\nusage: tclsh" $output]"
    }
    set extension $::folder/../../../bloom.so
    if {[file exists $extension]} {
        # Loading is allowed for that call only.
        set version [new_file version.test "each\nSELECT bloom_version() IS NOT NULL => 1\nSELECT load_extension('x') =! not authorized\n"]
        check_run "--load" "0 4 passed, 0 failed" --load $extension $version $version
    } else {
        puts "note: --load is not tested: bloom.so has not been built"
    }
    return $good
}

# A process may end too soon, or say something else.
proc test_process {process good} {
    foreach {name command wanted} [list \
        "is there"   $process                            "0 2 passed, 0 failed" \
        "is missing" ./no-such-process                   "1 0 passed, 1 failed" \
        "ends"       true                                "1 0 passed, 2 failed" \
        "is a cat"   {sh -c cat}                         "1 0 passed, 2 failed" \
        "ends badly" [list sh -c "$process \$0; exit 3"] "1 2 passed, 1 failed" \
    ] {
        check_run "a process that $name" $wanted --process $command $good
    }
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
    set good [test_command_line]
    if {[llength $argv]} {test_process [lindex $argv 0] $good}
} finally {
    file delete -force $scratch
}
puts "$num_passed passed, $num_failed failed"
exit [expr {$num_failed > 0 || $num_passed == 0}]
