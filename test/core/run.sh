#!/bin/sh
# Runs the core's test programs: sh test/core/run.sh [BUILD-FOLDER [EMULATOR ...]], at the
# top of the checkout.  Without a folder it builds them; with one they are there, made by
# `make core-tests`, which lists them: what else lies in the folder does not count.
#
# A program that crashes, or stops before it ran a test, counts as one failure.  What
# failing programs print is shown, and the lines of others that begin with "note: ".
# Ends with `N passed, N failed`.
set -u
[ $# != 0 ] || make -j "$(getconf _NPROCESSORS_ONLN)" core-tests || exit 1
build=${1:-build/release}
[ $# = 0 ] || shift
num_passed=0
num_failed=0

for program in $(cat "$build/test/core/programs"); do
  [ -e "$program" ] || program=$program.exe
  output=$(CMOCKA_MESSAGE_OUTPUT=TAP "$@" "$program" 2>&1 </dev/null)
  status=$?
  passed=$(echo "$output" | grep '^ok ' | grep -vc '# SKIP')
  failed=$(echo "$output" | grep '^not ok ' | grep -vc '# SKIP')
  # The sanitizers end a program in the middle of a test.
  [ "$failed" = 0 ] && [ $((status == 0 && passed > 0)) = 0 ] && failed=1
  if [ "$failed" != 0 ]; then
    echo "$program: exit status $status"
    echo "$output"
  else
    echo "$output" | grep '^note: '
  fi
  num_passed=$((num_passed + passed))
  num_failed=$((num_failed + failed))
done

echo "$num_passed passed, $num_failed failed"
[ "$num_failed" = 0 ] && [ "$num_passed" != 0 ]
