#!/usr/bin/env tclsh
# Runs every fenced block of the documents and compares what it prints with what
# is printed there.  A block's info string says how it is run:
#
#   sql       statements, in the sqlite3 shell; one database for a whole document,
#             bloom loaded, NULL shown as NULL.  `-- ` lines below a statement
#             are its output.
#   console   `$ ` lines run in sh, `sqlite> ` lines in the sqlite3 shell that a
#             `$ sqlite3` line started; all other lines are their output.
#   c, python saved under the name in the first line, for a console block below.
#   text      a picture: nothing to run.
#   sh setup  THE ONLY COMMANDS THAT ARE NOT RUN, for they install packages or
#             run this test; see checkSetupLine for what is checked instead.
#
# A row of a table that begins with `| statement | error |` has a statement in backticks, and the error that it ends with.
#
# Anything else fails, so no block escapes.  Local links must lead somewhere, and
# ext/FUNCTIONS.md must have a heading for every function that bloom registers, its table and the
# README's a row, and test/sql/records a record.  Files and functions that READMEs of ext/sqlite name exist.
#
#     tclsh test/docs/readme.tcl [--quick] [document ...]      (default: all of them)
#
# --quick: without the statements of README.md, which make two million rows.
#
# SQLITE3 names the shell to use instead of sqlite3, PYTHON what /usr/bin/python3 stands for.

package require Tcl 8.6
package require sqlite3

set root [file dirname [file dirname [file dirname [file normalize [info script]]]]]
set work [file join $root build readme]
set shell [expr {[info exists env(SQLITE3)] ? $env(SQLITE3) : "sqlite3"}]
set isQuick [expr {[lindex $argv 0] eq "--quick"}]
if {$isQuick} { set argv [lrange $argv 1 end]; incr argc -1 }
set numPassed 0
set numFailed 0
sqlite3 parser :memory:

# A whole statement, or a command of the shell such as `.mode line`.
proc isComplete {statement} {
  return [expr {[string match ".*" $statement] || [parser complete $statement]}]
}

proc writeFile {path text} {
  set channel [open $path w]
  fconfigure $channel -encoding utf-8
  puts -nonewline $channel $text
  close $channel
}

proc readFile {path} {
  set channel [open $path]
  fconfigure $channel -encoding utf-8
  set text [read $channel]
  close $channel
  return $text
}

proc pass {} { incr ::numPassed }

proc fail {where what expected got} {
  incr ::numFailed
  puts "FAILED $where"
  foreach {title text} [list block $what expected $expected got $got] {
    if {$title eq "block" && $text eq $expected} continue
    puts "  $title:"
    foreach line [split $text \n] { puts "    $line" }
  }
}

# Runs a command in the work folder.  Gives all that it printed, and its exit
# status where that is not 0.
proc run {command} {
  set channel [open "|[list sh -c "cd \"\$0\" && { $command\n} 2>&1" $::work]" r]
  fconfigure $channel -encoding utf-8
  set output [string trimright [read $channel] \n]
  if {[catch {close $channel} message options]} {
    set code [dict get $options -errorcode]
    if {[lindex $code 0] eq "CHILDSTATUS"} {
      append output "\n(exit status [lindex $code 2])"
    }
  }
  return [string trimleft $output \n]
}

# Runs statements in one sqlite3 shell.  Gives the output of each, error messages
# included as an interactive shell words them: without `near line N`.
proc runShell {command statements} {
  set input ""
  set line 1
  set index 0
  foreach statement $statements {
    append input $statement \n ".print @@end of $index@@" \n
    foreach _ [split $statement \n] { set indexAt($line) $index; incr line }
    incr line
    incr index
  }
  writeFile [file join $::work input.sql] $input
  set rest "[run "$command < input.sql 2> errors.txt"]\n"
  set outputs {}
  for {set i 0} {$i<$index} {incr i} {
    set mark "@@end of $i@@\n"
    set at [string first $mark $rest]
    if {$at<0} { lappend outputs "$rest(the shell stopped here)"; set rest ""; continue }
    lappend outputs [string range $rest 0 $at-1]
    set rest [string range $rest $at+[string length $mark] end]
  }
  set i 0
  foreach line [split [string trimright [readFile [file join $::work errors.txt]] \n] \n] {
    if {[regexp { near line (\d+)} $line -> number]} { set i $indexAt($number) }
    regsub { near line \d+} $line {} line
    lset outputs $i "[lindex $outputs $i]$line\n"
  }
  return $outputs
}

# -- One procedure a kind of block -------------------------------------------

# What shells of SQLite 3.31 to 3.54 print differently, made alike: the word before an
# error and the code after it, `name = value` and `name: value`, and 15 or 17 digits.
proc alike {text} {
  set lines {}
  foreach line [split $text \n] {
    regsub {^(-- )?(?:Runtime error|Parse error|Error):+ (.*?)(?: \(\d+\))?$} $line {\1error: \2} line
    regsub {^(-- )? *(\w+)(?: = |: ?)} $line {\1\2: } line
    foreach number [lsort -unique [regexp -all -inline {\d+\.\d{12,}(?:e[-+]?\d+)?} $line]] {
      set line [string map [list $number [format %.15g $number]] $line]
    }
    lappend lines $line
  }
  return [join $lines \n]
}

proc check {where what expected got} {
  if {[alike $expected] eq [alike $got]} pass else { fail $where $what $expected $got }
}

# The result is again the block's text, its outputs replaced by the real ones.
proc checkSql {where text document} {
  set statements {}
  set statement ""
  foreach line [split $text \n] {
    if {$statement eq "" && ($line eq "" || [string match "--*" $line])} continue
    append statement $line
    if {[isComplete $statement]} {
      # A mode has a text for NULL of its own, in newer shells.
      if {[string match ".mode *" $statement]} { append statement "\n.nullvalue NULL" }
      lappend statements $statement
      set statement ""
    } else {
      append statement \n
    }
  }
  if {$statement ne ""} {
    fail $where $text "a semicolon at the end" $statement
    return
  }
  set outputs [runShell [databaseShell $document] $statements]
  set got ""
  set statement ""
  foreach line [split $text \n] {
    if {$statement eq "" && [string match "--*" $line]} continue
    append got $line \n
    if {$statement eq "" && $line eq ""} continue
    append statement $line
    if {[isComplete $statement]} {
      set output [lindex $outputs 0]
      set outputs [lrange $outputs 1 end]
      foreach row [lrange [split $output \n] 0 end-1] {
        append got [string trimright "-- $row"] \n
      }
      set statement ""
    } else {
      append statement \n
    }
  }
  check $where $text $text [string trimright $got \n]
}

proc checkConsole {where text document} {
  set got {}
  set lines [split $text \n]
  for {set i 0} {$i<[llength $lines]} {incr i} {
    set line [lindex $lines $i]
    # Output is what is compared; it is not read.
    if {![string match {$ *} $line]} continue
    set command [string range $line 2 end]
    lappend got $line
    while {[string match {*\\} $line]} {
      set line [lindex $lines [incr i]]
      append command \n $line
      lappend got $line
    }
    if {[info exists ::env(PYTHON)]} {
      regsub {^/usr/bin/python3\M} $command {"$PYTHON"} command
    }
    # It is not speed that is tried.
    regsub {^cc -O3 } $command {cc -O0 } command
    if {![string match "sqlite3*" $command]} {
      set output [run $command]
      if {$output ne ""} { lappend got $output }
      continue
    }
    set statements {}
    set shown {}
    for {incr i} {$i<[llength $lines]} {incr i} {
      set line [lindex $lines $i]
      if {[string match {$ *} $line]} { incr i -1; break }
      if {[string match "sqlite> *" $line]} {
        lappend statements [string range $line 8 end]
        lappend shown $line
      } elseif {[string match "   ...> *" $line]} {
        lset statements end "[lindex $statements end]\n[string range $line 8 end]"
        lset shown end "[lindex $shown end]\n$line"
      }
    }
    regsub {^sqlite3} $command $::shell command
    foreach output [runShell $command $statements] line $shown {
      lappend got $line
      if {$output ne ""} { lappend got [string trimright $output \n] }
    }
  }
  check $where $text $text [join $got \n]
}

# A program is proved by the console block that runs it.
proc saveProgram {where text document} {
  global savedPrograms work
  if {![regexp {^(?:/\*|//|#) (\w+\.(?:c|py))\M} $text -> name]} {
    fail $where $text "a first line that names the file" [lindex [split $text \n] 0]
    return
  }
  writeFile [file join $work $name] $text\n
  set savedPrograms($name) $where
}

# Where a page has a database of its own.
proc databaseShell {document} {
  set database [string map {/ -} [file rootname $document]].db
  return "$::shell -cmd '.nullvalue NULL' -cmd '.load ./bloom' $database"
}

# The rows of a table of errors, each `| statement | error |`.
proc checkErrors {where rows document} {
  set statements {}
  foreach row $rows { lappend statements "[lindex $row 0];" }
  foreach output [runShell [databaseShell $document] $statements] row $rows {
    regsub {^(?:.*\n)?(?:Runtime error|Parse error|Error):+ (.*?)(?: \(\d+\))?$} [string trimright $output \n] {\1} got
    check $where [lindex $row 0] [lindex $row 1] [lindex [split $got \n] 0]
  }
}

# What stands in for running a line of a `sh setup` block.
proc checkSetupLine {line} {
  if {[regexp {^sh (\S+\.sh)(?: [a-z]+)*(?: +#.*)?$} $line -> script]} {
    if {![file exists [file join $::work $script]]} { return "no such file: $script" }
    return [run "sh -n $script"]
  }
  if {[regexp {^(?:sudo )?make(?: ([a-z]\S*))?(?: +#.*)?$} $line -> target]} {
    return [run "make -n $target >/dev/null"]
  }
  return "neither `sh <script>` nor `make <target>`: $line"
}

proc checkSetup {where text document} {
  set problems {}
  foreach line [split $text \n] {
    set problem [checkSetupLine $line]
    if {$problem ne ""} { lappend problems $problem }
  }
  check $where $text "" [join $problems \n]
}

proc checkBlock {where kind text document} {
  switch -- $kind {
    sql        { if {!$::isQuick || $document ne "README.md"} { checkSql $where $text $document } }
    console    { checkConsole $where $text $document }
    c - python { saveProgram $where $text $document }
    text       { }
    "sh setup" { checkSetup $where $text $document }
    default    { fail $where $text "an info string this test knows" $kind }
  }
}

# -- Documents ---------------------------------------------------------------

# The anchor that a Markdown viewer gives a heading.
proc anchor {heading} {
  return [string map {" " -} [regsub -all {[^a-z0-9_ -]} [string tolower $heading] {}]]
}

# Where the headings of a document can be linked to.
proc anchors {lines} {
  set anchors {}
  foreach line $lines {
    if {[regexp {^#+ (.*)$} $line -> heading]} { lappend anchors [anchor $heading] }
  }
  return $anchors
}

# Files must be there, and headings, in this document and in others.
proc checkLinks {document lines} {
  set number 0
  foreach line $lines {
    incr number
    foreach {_ target} [regexp -all -inline {\]\(([^)]+)\)} $line] {
      if {[regexp {^[a-z]+:} $target]} continue
      regexp {^([^#]*)(?:#(.*))?$} $target -> file anchor
      set path [expr {$file eq "" ? $document : [file join [file dirname $document] $file]}]
      set problem ""
      if {![file exists [file join $::root $path]]} {
        set problem "a file at $path"
      } elseif {$anchor ne ""} {
        set linked [expr {$file eq "" ? $lines : [split [readFile [file join $::root $path]] \n]}]
        if {$anchor ni [anchors $linked]} { set problem "a heading for #$anchor in $path" }
      }
      if {$problem eq ""} pass else { fail $document:$number $line $problem nothing }
    }
  }
}

proc checkDocument {document} {
  global savedPrograms
  array unset savedPrograms
  set lines [split [readFile [file join $::root $document]] \n]
  set isInside 0
  set number 0
  set errors {}
  foreach line [concat $lines {{}}] {
    incr number
    if {!$isInside && [regexp {^\| `([^`]+)` \| (.*) \|$} $line -> statement message] && [info exists errorsAt]} {
      lappend errors [list $statement $message]
    } elseif {!$isInside && [info exists errorsAt] && $line eq ""} {
      checkErrors $document:$errorsAt $errors $document
      unset errorsAt
      set errors {}
    }
    if {!$isInside && $line eq "| statement | error |"} { set errorsAt $number }
    if {!$isInside && [regexp {^( *)```(.*)$} $line -> indent kind]} {
      set isInside 1
      set where $document:$number
      set block {}
    } elseif {$isInside && $line eq "$indent```"} {
      set isInside 0
      set text [join $block \n]
      if {$kind eq "console"} {
        foreach name [array names savedPrograms] {
          if {[string first $name $text]>=0} { unset savedPrograms($name) }
        }
      }
      checkBlock $where $kind $text $document
    } elseif {$isInside} {
      lappend block [string range $line [string length $indent] end]
    }
  }
  if {$isInside} { fail $where [join $block \n] "```" "the end of the file" }
  foreach {name where} [array get savedPrograms] {
    fail $where $name "a console block below that runs it" "none"
  }
  checkLinks $document $lines
}

proc checkReference {document} {
  set text [readFile [file join $::root $document]]
  set records ""
  foreach file [glob [file join $::root test sql records *.test]] { append records [readFile $file] }
  parser enable_load_extension 1
  parser eval {SELECT load_extension($::root||'/bloom')}
  parser eval {
    SELECT name FROM pragma_function_list WHERE name LIKE 'bloom\_%' ESCAPE '\'
    UNION SELECT name FROM pragma_module_list WHERE name LIKE 'bloom\_%' ESCAPE '\'
  } {
    if {[regexp "\n## \[^\n\]*$name\\(" $text]} pass else {
      fail $document $name "a heading `## ${name}(...)`" nothing
    }
    if {[regexp "\\m$name\\M" $records]} pass else { fail test/sql/records $name "a record that calls it" nothing }
    foreach table [list $document README.md] {
      if {[regexp "\n\\|\[^\n\]*\\\[$name\\\]\\(" [readFile [file join $::root $table]]]} pass else {
        fail $table $name "a row in the table of functions" nothing
      }
    }
  }
}

# A folder's README names files, and functions that its code defines or calls from other folders of ext/.  Words in backticks
# that begin with `name_` or `key_` are objects in a database.
proc checkNames {document} {
  set folder [file dirname [file join $::root $document]]
  set code ""
  foreach pattern {sqlite/*.[ch] sqlite/*/*.[ch] core/*/*.[ch]} {
    foreach file [glob [file join $::root ext $pattern]] { append code [readFile $file] }
  }
  set numFunctions 0
  foreach {- name} [regexp -all -inline {`([a-z]\w*(?:\.[ch]|\(\))?)`} [readFile [file join $::root $document]]] {
    set function [string map {() {}} $name]
    if {[regexp {\.[ch]$} $name]} {
      if {[file exists [file join $folder $name]]} pass else { fail $document $name "a file of its folder" nothing }
    } elseif {![regexp {^(name|key|bloom_keeps_rowids)_} $name] && ([regexp _ $name] || $function ne $name)} {
      incr numFunctions
      if {[regexp -line "^\[a-z\].*\\m$function\\(" $code]} pass else { fail $document $name "a function of ext/" nothing }
    }
  }
  if {$numFunctions>=20} pass else { fail $document functions "those of a look-up and a merge" $numFunctions }
}

file delete -force $work
file mkdir $work
foreach name {Makefile bloom.so ext examples test sql} {
  if {[file exists [file join $root $name]]} {
    file link -symbolic [file join $work $name] [file join $root $name]
  }
}
set documents [expr {$argc ? $argv : {
  README.md CHANGELOG.md ext/FUNCTIONS.md ext/FORMATS.md ext/BUILDING.md ext/sqlite/vtab/README.md ext/sqlite/index/README.md sql/README.md sql/LIMITS.md sql/PRIVACY.md
  examples/README.md examples/agents/README.md examples/recipes/README.md examples/parquet/README.md examples/playground/README.md examples/static_host/README.md
  test/README.md test/RELIABILITY.md test/bench/README.md
}}]
foreach document $documents { checkDocument $document }
if {"ext/FUNCTIONS.md" in $documents} { checkReference ext/FUNCTIONS.md }
foreach document {ext/sqlite/vtab/README.md ext/sqlite/index/README.md} { if {$document in $documents} { checkNames $document } }
puts "$numPassed passed, $numFailed failed"
exit [expr {$numFailed>0}]
