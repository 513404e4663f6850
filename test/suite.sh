# To be sourced: `suite TITLE COMMAND ...` runs a command and counts what it tested;
# `total` prints the sum and `table` one line a suite.  `leave_out TITLE REASON` says that
# one cannot run here; with REQUIRE_ALL=1 that is a failure.
#
# A suite is a command that prints `N passed, N failed`, last, and exits with 0 if none
# failed.  What it prints before that is shown if it failed, and else its lines that
# begin with "note:", which say how much it did or what it left out.
set -u
# A make that runs this script hands down its own -j and targets; variables such as
# CC or WERROR given to it arrive in the environment as well.  The suites say where to build.
unset MAKEFLAGS MAKELEVEL BUILD EXTENSION SANITIZE
. test/counts.sh
. test/python.sh
total_passed=0
total_failed=0
mkdir -p build
suite_log=build/suite.$$.log
suite_table=build/suite.$$.table
: >$suite_table
trap 'rm -f $suite_log $suite_table' EXIT
trap 'exit 1' INT TERM

suite() {
  suite_title=$1
  shift
  echo "== $suite_title"
  suite_start=$(date +%s)
  counted $suite_log "$@"
  seconds=$(($(date +%s) - suite_start))
  if [ "$failed" != 0 ]; then
    grep -vxF "$passed passed, $failed failed" $suite_log
    echo "(exit status $status; that a suite ran nothing, or stopped early, is one failure)"
  else
    grep '^note: ' $suite_log
  fi
  echo "$passed passed, $failed failed"
  total_passed=$((total_passed + passed))
  total_failed=$((total_failed + failed))
  # How much was done: the suite's own notes.
  notes=$(sed -n 's/^note: //p' $suite_log | tr '\n' ';' | sed 's/;$//; s/;/; /g')
  echo "| $suite_title | $passed passed, $failed failed | $seconds s | $notes |" >>$suite_table
}

leave_out() {
  if [ -n "${REQUIRE_ALL-}" ]; then
    suite "$1" echo "$2"
  else
    echo "Left out: $1. $2."
  fi
}

# The table of all suites so far, as Markdown.
table() {
  echo '| what | result | time | how much |'
  echo '|---|---|---:|---|'
  cat $suite_table
}

# Prints the sum and exits: with 1 if anything failed, or a suite is missing, stopped
# early or ran nothing.
total() {
  echo "$total_passed passed, $total_failed failed"
  [ "$total_failed" = 0 ]
  exit
}
