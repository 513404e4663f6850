# To be sourced by the scripts of test/, at the top of the checkout: how they count, and
# what several of them need.
#
# Each of them ends with `N passed, N failed`, and exits with 0 if none failed.  Before that
# it shows what failed, and lines that begin with "note: ": how much was done, or left out.
# shellcheck shell=sh disable=SC2034 # the names are for who sources this
set -u
# A make that runs a script hands down its own -j and targets; variables such as CC or WERROR
# given to it arrive as well.  Where to build is for the script to say.
unset MAKEFLAGS MAKELEVEL BUILD EXTENSION SANITIZE
jobs=$(getconf _NPROCESSORS_ONLN)

# -- Counting -----------------------------------------------------------------

# $work is a folder to write in, which the script makes.
num_passed=0
num_failed=0
num_suites=0
used=0
lanes='' # the folder of in_lanes, in its two subshells

# check TITLE COMMAND ...: one test; what it printed is shown if it failed.
check() {
  title=$1
  shift
  if "$@" >"$work/log" 2>&1 </dev/null; then
    num_passed=$((num_passed + 1))
  else
    echo "FAILED: $title (exit status $?)"
    tail -n 40 "$work/log"
    num_failed=$((num_failed + 1))
  fi
}

# adds_up TITLE COMMAND ...: the tests of a command that ends as a script of test/ does.
adds_up() {
  title=$1
  shift
  "$@" >"$work/log" 2>&1 </dev/null
  add_log $?
}

# add_log STATUS: adds what the last line of $work/log says. Sets passed and failed; that nothing
# ran, or that it stopped early, is one failure at least.
add_log() {
  sum=$(tail -n 1 "$work/log" | tr -d '\r' | sed -n 's/^\([0-9][0-9]*\) passed, \([0-9][0-9]*\) failed$/passed=\1 failed=\2/p')
  eval "${sum:-passed=0 failed=0}"
  if [ "$failed" = 0 ] && { [ "$1" != 0 ] || [ "$passed" = 0 ]; }; then failed=1; fi
  if [ "$failed" != 0 ]; then
    echo "FAILED: $title (exit status $1)"
    tail -n 200 "$work/log"
  fi
  num_passed=$((num_passed + passed))
  num_failed=$((num_failed + failed))
}

# Sets used to the processor time that commands took which have ended, in seconds.
find_used() {
  times >"$work/times"
  used=$(awk 'NR==2 { split($0, part, /[ms., ]+/); print 60*part[1] + part[2] + 60*part[4] + part[5] }' "$work/times")
}

# suite TITLE COMMAND ...: the same, with a headline, the command's notes and times.
suite() {
  num_suites=$((num_suites + 1))
  [ -n "$lanes" ] || { time_suite "$@"; return; }
  work=$lanes/$num_suites
  mkdir "$work" 2>/dev/null || return 0 # the other lane has it
  time_suite "$@" >"$work/report" 2>&1
  echo "$passed $failed $((used - used_before))" >"$work/sum"
  until mkdir "$lanes/prints" 2>/dev/null; do sleep 1; done
  cat "$work/report"
  rmdir "$lanes/prints"
}

time_suite() {
  echo "== $1"
  suite_start=$(date +%s)
  find_used
  used_before=$used
  adds_up "$@"
  find_used
  [ "$failed" != 0 ] || grep '^note: ' "$work/log"
  echo "$passed passed, $failed failed, $(($(date +%s) - suite_start)) s, $((used - used_before)) s of processor time"
}

# in_lanes FUNCTION: runs the function's suites two at a time, and prints each as a whole when it has
# ended. Both subshells call the function, and a suite is run by the one that comes to it first. All
# that suites share must be built before.
in_lanes() {
  lanes=$work/lanes
  rm -rf "$lanes" && mkdir "$lanes" || exit 1
  ("$1"; echo $num_suites >"$lanes/end") &
  other=$!
  trap 'kill $other 2>/dev/null; exit 1' INT TERM
  ("$1"; echo $num_suites >"$lanes/end")
  # A shell may return from wait before the lane has ended.
  while kill -0 $other 2>/dev/null; do wait $other; done
  trap - INT TERM
  num_suites=$(cat "$lanes/end" 2>/dev/null || echo 1)
  while [ "$num_suites" != 0 ]; do
    if ! read -r passed failed seconds 2>/dev/null <"$lanes/$num_suites/sum"; then
      echo "FAILED: suite $num_suites did not end"
      passed=0 failed=1 seconds=0
    fi
    num_passed=$((num_passed + passed))
    num_failed=$((num_failed + failed))
    num_suites=$((num_suites - 1))
  done
  lanes=
}

# leave_out TITLE REASON: a suite that cannot run here; a failure with REQUIRE_ALL=1.
leave_out() {
  if [ -n "${REQUIRE_ALL-}" ]; then
    suite "$1" echo "$2"
  else
    echo "Left out: $1. $2."
  fi
}

# finish: the sum, and the end of the script.
finish() {
  echo "$num_passed passed, $num_failed failed"
  [ "$num_failed" = 0 ] && [ "$num_passed" != 0 ]
  exit
}

# same WANTED GOT: shows both where they differ.
same() {
  [ "$1" = "$2" ] && return
  printf 'wanted:\n%s\ngot:\n%s\n' "$1" "$2"
  return 1
}

# The version of this checkout; SQL to try any package of it, and what that prints.
version=$(sed -n 's/#define BLOOM_VERSION "\(.*\)"/\1/p' ext/bloom.h)
sql="SELECT bloom_version() || ' ' || bloom_may_contain(f, 3) || ' ' || bloom_may_contain(f, 4)
  FROM (SELECT bloom_build(value) AS f FROM json_each('[2, 3, 5, 7]'));"
said="$version 1 0"

# -- Builds of their own ------------------------------------------------------

# The extension with tiny limits, so that small tables have all that large ones have, and with
# assert(): build/tiny/bloom.so.
tiny_limits='-DBLOOM_TINY_TABLES -DBLOOM_ENTRIES_ROW_BYTES=200 -DBLOOM_SEGMENT_LG=6 -DINDEX_SPAN_LG=3 -DINDEX_SPANS_PER_ROW=5'
tiny_limits="$tiny_limits -DINDEX_BLOCK_BYTES=200.0 -DINDEX_MAX_BYTES=9600 -DINDEX_LAYOUT_ROW_BYTES=150 -DINDEX_LISTED_PAIRS=100 -DINDEX_JOIN_SHARE=2 -DINDEX_JOIN_AT_ONCE=100 -DINDEX_JOIN_LEAST=60 -DINDEX_FEW_ROWS=60 -DINDEX_REBUILD_LEAST=40"
tiny_limits="$tiny_limits -DBLOOM_ZONES_LG=2 -DINDEX_ZONE_ROWS=20.0 -DINDEX_SLICE_ROWS=8.0 -DINDEX_SORTED_ROWS=8.0 -DINDEX_MOST_OVERLAP=2.0"
make_tiny() {
  make -s -j "$jobs" BUILD=build/tiny EXTENSION=build/tiny/bloom.so OPT='-O1 -g1' CPPFLAGS="$tiny_limits -DBLOOM_DEBUG"
}

# -- Sanitizers ---------------------------------------------------------------

# For gcc and clang.  What `undefined` leaves out: a REAL cast to an integer that cannot hold it.
sanitizers='-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all'

# Unless the compiler has them, sanitizers is empty after this, and the status 1.
find_sanitizers() {
  mkdir -p build
  # shellcheck disable=SC2086 # flags
  echo 'int main(void){ return 0; }' | ${CC:-cc} $sanitizers -x c - -o build/probe.$$ 2>/dev/null && build/probe.$$ ||
    sanitizers=
  rm -f build/probe.$$
  [ -n "$sanitizers" ]
}

# The extension with sanitizers, to be loaded, beside the release's: build/sanitize/bloom.so.
make_sanitized() {
  make -j "$jobs" BUILD=build/sanitize EXTENSION=build/sanitize/bloom.so OPT='-O1 -g' SANITIZE="$sanitizers" "$@"
}

# What loads that is not sanitized: the runtimes must be there first.
sanitized() {
  env LD_PRELOAD="$(${CC:-cc} -print-file-name=libasan.so) $(${CC:-cc} -print-file-name=libubsan.so)" "$@"
}

# Programs of which the extension is a part, with sanitizers if there are any: in $linked.  Compiled
# without optimisation, which would take longer than the tests gain by it.
linked=build/linked
make_linked() {
  make -s -j "$jobs" BUILD=$linked OPT='-O0 -g1' CPPFLAGS=-DSQLITE_CORE SANITIZE="$sanitizers" "$@"
}

# -- Python -------------------------------------------------------------------

# Exports PYTHON, a Python 3 that can load SQLite's extensions.  Many cannot, often the one
# that comes first on PATH; macOS's own cannot either, Homebrew's can.
find_python() {
  for candidate in "${PYTHON-}" /usr/bin/python3 python3 /opt/homebrew/bin/python3 /usr/local/bin/python3; do
    if "$candidate" -c 'import sqlite3; sqlite3.connect(":memory:").enable_load_extension(True)' >/dev/null 2>&1; then
      PYTHON=$candidate
      break
    fi
  done
  : "${PYTHON:=/usr/bin/python3}" # none: what it is asked fails
  export PYTHON
}
