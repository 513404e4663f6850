#!/usr/bin/env tclsh
# Tests the sqllogictest runner itself, on the files beside it:
#   pass/  every record passes; and with any one expected value changed, one fails
#   fail/  records fail as the comments below them say:
#            #! WORD: TITLE   the report names the last line that begins with WORD
#            #~ TEXT          and then shows TEXT as one line of it
#          #= is the last line printed for the file, here and in pass/.
# Then the command line, line endings, and --load where bloom.so has been built.
# With a PROCESS (test/platforms/machines/sql_process) the same once more through it.
#
#   tclsh test/sql/runner/self_test.tcl ?PROCESS?

set runner_folder [file dirname [file normalize [info script]]]
set runner [file join $runner_folder sqllogictest.tcl]
set num_passed 0
set num_failed 0

# Options for every run.
set runner_options {}

# Runs the runner; returns its exit status, standard output and standard error.
proc run_runner {args} {
    variable runner
    variable runner_options
    set errors_path [file join $::scratch errors]
    set command [list [info nameofexecutable] $runner {*}$runner_options {*}$args 2> $errors_path]
    set channel [open |$command rb]
    set output [encoding convertfrom utf-8 [read $channel]]
    set status 0
    if {[catch {close $channel} message options]} {
        set status [lindex [dict get $options -errorcode] 2]
    }
    list $status $output [read_text $errors_path]
}

proc check {name wanted got} {
    variable num_passed
    variable num_failed
    if {$wanted eq $got} {
        incr num_passed
        return
    }
    incr num_failed
    puts "$name\n    wanted: [join [split $wanted \n] "\n            "]"
    puts "    got:    [join [split $got \n] "\n            "]"
}

proc read_text {path} {
    set channel [open $path]
    fconfigure $channel -encoding utf-8 -translation lf
    try {
        return [read $channel]
    } finally {
        close $channel
    }
}

proc write_text {path text} {
    set channel [open $path w]
    fconfigure $channel -encoding utf-8 -translation lf
    puts -nonewline $channel $text
    close $channel
}

proc last_line {output} {
    lindex [split [string trimright $output \n] \n] end
}

# The report that the comments of a file promise: the lines of file:line, and per such
# line the texts below it. The summary comes last.
proc promised_report {path} {
    set report {}
    set summary ""
    set number 0
    foreach line [split [read_text $path] \n] {
        incr number
        if {[regexp {^#! (\S+): (.*)} $line -> word title]} {
            lappend report [list "$path:$number_of($word): $title" {}]
        } elseif {[regexp {^#~ (.*)} $line -> text]} {
            lset report end 1 [concat [lindex $report end 1] [list $text]]
        } elseif {[regexp {^#= (.*)} $line -> summary]} {
            continue
        } else {
            set number_of([lindex [regexp -inline {\S+} $line] 0]) $number
        }
    }
    list $report $summary
}

# The same form for what was printed, with those lines alone that were promised, in
# their order: other lines may stand between them.
proc printed_report {path output promised} {
    set report {}
    foreach line [split $output \n] {
        if {[string match $path:* $line]} {
            lassign [lindex $promised [llength $report]] - texts
            lappend report [list $line {}]
        } elseif {[llength $report] && [llength $texts]
                && [string trim $line] eq [lindex $texts 0]} {
            lset report end 1 [concat [lindex $report end 1] [list [lindex $texts 0]]]
            set texts [lrange $texts 1 end]
        }
    }
    return $report
}

proc test_pass {path} {
    lassign [promised_report $path] - summary
    lassign [run_runner $path] status output
    check $path "0 $summary\n" "$status $output"

    # CRLF, and a last line without its newline.
    set copy [file join $::scratch copy.test]
    set text [string trimright [read_text $path] \n]
    write_text $copy [string map {\n \r\n} $text]
    lassign [run_runner $copy] status output
    check "$path with CRLF" "0 $summary\n" "$status $output"
}

# Every expected value in turn is changed: a file is of use only if its values count.
proc test_pass_mutants {path} {
    set lines [split [read_text $path] \n]
    set mutants {}
    set number 0
    set in_values no
    set skipped no
    foreach line $lines {
        incr number
        if {[string trim $line] eq ""} {
            set in_values no
            set skipped no
        } elseif {$line in {"onlyif mysql" "skipif sqlite"}} {
            set skipped yes
        } elseif {$line eq "halt" && !$skipped} {
            break
        } elseif {$line eq "----"} {
            set in_values yes
        } elseif {$in_values && !$skipped && [string index $line 0] ne "#"} {
            set mutant [file join $::scratch mutant-$number.test]
            write_text $mutant [join [lreplace $lines $number-1 $number-1 x$line] \n]
            lappend mutants $mutant
        }
    }
    if {![llength $mutants]} return
    lassign [run_runner {*}$mutants] - output
    foreach mutant $mutants {
        set failures [regexp -all -inline -line "^$mutant:\\d+: .*" $output]
        check "$path, value changed: [file tail $mutant]" 1 [llength $failures]
        file delete $mutant
    }
}

proc test_fail {path} {
    lassign [promised_report $path] promised summary
    lassign [run_runner $path] status output
    check $path "1 $summary" "$status [last_line $output]"
    set printed [printed_report $path $output $promised]
    foreach wanted $promised got $printed {
        check [lindex $wanted 0] [join $wanted \n] [join $got \n]
    }
}

proc test_command_line {} {
    variable scratch
    set good [file join $scratch good.test]
    set bad [file join $scratch bad.test]
    set empty [file join $scratch empty.test]
    set none [file join $scratch none.test]
    write_text $good "statement ok\nCREATE TABLE t(a)\n"
    write_text $bad "statement ok\nSELECT\n"
    write_text $empty "# nothing\n\nhash-threshold 8\n\nskipif sqlite\nstatement ok\nSELECT 1\n"

    # Each file has its own database, or the second CREATE TABLE would fail.
    lassign [run_runner $good $good] status output
    check "two files" "0 2 passed, 0 failed\n" "$status $output"
    # And its own labels.
    set one [file join $scratch one.test]
    set two [file join $scratch two.test]
    write_text $one "query I nosort label\nSELECT 1\n----\n1\n"
    write_text $two "query I nosort label\nSELECT 2\n----\n2\n"
    lassign [run_runner $one $two] status output
    check "one label in two files" "0 2 passed, 0 failed\n" "$status $output"

    # A database of each encoding, and what is wrong in one of them.
    set encodings [file join $scratch encodings.test]
    write_text $encodings "encodings UTF-8 UTF-16be\n\nquery T\nPRAGMA encoding\n----\nUTF-8\n"
    lassign [run_runner $encodings] status output
    check "encodings" "1 1 passed, 1 failed" "$status [last_line $output]"
    check "the one that fails" 1 [regexp "^$encodings UTF-16be:3: wrong result\n" $output]
    write_text $encodings "encodings UTF-7\n\nstatement ok\nSELECT 1\n"
    lassign [run_runner $encodings] status output
    check "an encoding that there is not" "1 0 passed, 1 failed" "$status [last_line $output]"

    # The seed is that of the environment, and is printed; else each run draws one.
    set seeded [file join $scratch seeded.test]
    write_text $seeded "query I\nSELECT \$SEED + 1\n----\n124\n"
    set ::env(BLOOM_TEST_SEED) 123
    lassign [run_runner $seeded] status output
    check "a seed that is given" 1 [regexp "^note: seed 123; .*\n1 passed, 0 failed\n$" $output]
    unset ::env(BLOOM_TEST_SEED)
    lassign [run_runner $seeded] status first
    lassign [run_runner $seeded] status second
    check "seeds that are drawn" 1 [expr {$first ne $second && [last_line $first] eq "0 passed, 1 failed"}]

    lassign [run_runner $bad $good] status output
    check "a failing file and a good one" "1 1 passed, 1 failed" "$status [last_line $output]"
    lassign [run_runner $good $empty] status output
    check "nothing ran" "1 $empty: no record ran\n1 passed, 1 failed\n" "$status $output"
    lassign [run_runner $none $good] status output
    check "a file that is not there" 1 $status
    check "its report" 1 [regexp "^$none: cannot read: .*no such file" $output]
    check "the others run" "1 passed, 1 failed" [last_line $output]

    # Directories: all of their *.test files, at any depth; none is a failure.
    set tree [file join $scratch tree]
    file mkdir [file join $tree a b] [file join $scratch bare]
    file copy $good [file join $tree a]
    file copy $good [file join $tree a b]
    file copy $bad [file join $tree a b note.txt]
    lassign [run_runner $tree] status output
    check "a directory" "0 2 passed, 0 failed\n" "$status $output"
    lassign [run_runner [file join $scratch bare]] status output
    check "a directory without tests" "1 0 passed, 1 failed" "$status [last_line $output]"

    # --db: on disk, gone afterwards; what is there already is not touched.
    set database [file join $scratch database]
    set on_disk [file join $scratch on_disk.test]
    write_text $on_disk "statement ok\nCREATE TABLE t(a)\n\nquery I\nSELECT count(*) FROM\
        pragma_database_list WHERE file LIKE '%/database'\n----\n1\n"
    lassign [run_runner --db $database $on_disk $on_disk] status output
    check "--db" "0 4 passed, 0 failed\n" "$status $output"
    check "--db leaves no file" 0 [file exists $database]
    write_text $database precious
    lassign [run_runner --db $database $good] status output errors
    check "--db on a file that is there" "2 {}" [list $status $output]
    check "its message" 1 [regexp {^sqllogictest.tcl: .*/database exists} $errors]
    check "the file" precious [read_text $database]

    # --sqlite: here the library that is installed, by its path.
    package require sqlite3
    foreach loaded [info loaded] {
        if {[lindex $loaded 1] eq "Sqlite3"} {
            lassign [run_runner --sqlite [lindex $loaded 0] $good] status output
            check "--sqlite" "0 1 passed, 0 failed\n" "$status $output"
        }
    }
    lassign [run_runner --sqlite $good $good] status output errors
    check "--sqlite with no library" "2 {}" [list $status $output]

    lassign [run_runner --load ./no-such-extension $good $good] status output
    check "--load without an extension" "1 0 passed, 2 failed" "$status [last_line $output]"
    check "its report" 1 [regexp "^$good: cannot load ./no-such-extension\n" $output]

    foreach {arguments message} {
        {}          {no test file given}
        --loud      {unknown option --loud}
        --load      {--load needs a value}
        {--db}      {--db needs a value}
    } {
        lassign [run_runner {*}$arguments] status output errors
        check "arguments: $arguments" "2 {} {sqllogictest.tcl: $message}" \
            [list $status $output [lindex [split $errors \n] 0]]
        check "and the usage" 1 [regexp {\nusage: tclsh} $errors]
    }
    lassign [run_runner --help] status output
    check "--help" "0 1" [list $status [regexp {^usage: tclsh} $output]]
}

# A process may end too soon, or say something else.
proc test_process {process} {
    variable scratch
    variable runner_options {}
    set good [file join $scratch good.test]
    write_text $good "statement ok\nCREATE TABLE t(a)\n\nquery I\nSELECT 1\n----\n1\n"
    foreach {name command wanted} [list \
        "is there"   $process              "0 2 passed, 0 failed" \
        "is missing" ./no-such-process     "1 0 passed, 1 failed" \
        "ends"       true                  "1 0 passed, 2 failed" \
        "is a cat"   {sh -c cat}           "1 0 passed, 2 failed" \
        "ends badly" [list sh -c "$process \$0; exit 3"] "1 2 passed, 1 failed" \
    ] {
        lassign [run_runner --process $command $good] status output
        check "a process that $name" $wanted "$status [last_line $output]"
    }
    set database [file join $scratch database]
    lassign [run_runner --process $process --db $database $good $good] status output
    check "--process --db" "0 4 passed, 0 failed\n" "$status $output"
    check "which leaves no file" 0 [file exists $database]
}

proc test_load {extension} {
    variable scratch
    set file [file join $scratch load.test]
    set query "query I\nSELECT bloom_version() IS NOT NULL\n----\n1\n"
    write_text $file $query
    lassign [run_runner --load $extension $file $file] status output
    check "--load" "0 2 passed, 0 failed\n" "$status $output"
    foreach {entry_point wanted} {
        ""                   "0 2 passed, 0 failed"
        sqlite3_bloom_init   "0 2 passed, 0 failed"
        "# a comment"        "0 2 passed, 0 failed"
        no_such_entry_point  "1 0 passed, 2 failed"
    } {
        write_text $file "load $extension $entry_point\n\n$query"
        lassign [run_runner $file] status output
        check "load with entry point '$entry_point'" $wanted "$status [last_line $output]"
    }
}

fconfigure stdout -encoding utf-8
close [file tempfile scratch]
file delete $scratch
file mkdir $scratch
try {
    foreach runner_options [list {} {*}[lmap process $argv {list --process $process}]] {
        foreach path [lsort [glob [file join $runner_folder pass *.test]]] {
            test_pass $path
            test_pass_mutants $path
        }
        foreach path [lsort [glob [file join $runner_folder fail *.test]]] {
            test_fail $path
        }
    }
    if {[llength $argv]} {test_process [lindex $argv 0]}
    set runner_options {}
    test_command_line
    set extension [file join $runner_folder .. .. .. bloom.so]
    if {[file exists $extension]} {
        # The directive `load` takes a path without spaces, which a checkout's may have.
        file copy $extension [file join $scratch bloom.so]
        test_load [file join $scratch bloom.so]
    } else {
        puts "load is not tested: bloom.so has not been built"
    }
} finally {
    file delete -force $scratch
}
puts "$num_passed passed, $num_failed failed"
exit [expr {$num_failed > 0 || $num_passed == 0}]
