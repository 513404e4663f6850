#!/bin/sh
# How suites are counted, two at a time: sh test/lib/shared_test.sh, at the top of the checkout.
# Ends with `N passed, N failed`.
. test/lib/shared.sh
work=build/shared_test
mkdir -p $work || exit 1

says() { echo "$1 passed, $2 failed"; }
stops() { exit 3; }
six() {
  suite 'two pass' says 2 0
  suite 'one fails' says 3 1
  suite 'no sum' echo nothing
  suite 'none ran' says 0 0
  suite 'a bad end' sh -c 'echo 5 passed, 0 failed; exit 1'
  suite 'the last' says 7 0
}
one_stops() { suite 'passes' says 2 0; suite 'ends the lane' stops; suite 'behind it' says 4 0; }
all_stop() { exit 3; }

# sum_of FUNCTION: what a script whose suites these are prints last, and how it ends.
sum_of() { (num_passed=0 num_failed=0 work=$work/$1; mkdir -p "$work"; in_lanes "$1"; finish) >$work/printed 2>&1; echo "$(tail -n 1 $work/printed), $?"; }
once_each() { sum_of six && same 6 "$(grep -c '^== ' $work/printed)"; }

check 'all are added, and what did not run is a failure' same '17 passed, 4 failed, 1' "$(sum_of six)"
check 'each runs once' once_each
check 'one that ends its lane is a failure, and the other lane goes on' same '6 passed, 1 failed, 1' "$(sum_of one_stops)"
check 'so is the end of both' same '0 passed, 1 failed, 1' "$(sum_of all_stop)"
finish
