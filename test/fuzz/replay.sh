#!/bin/sh
# Replays the kept inputs through every fuzz target, without libFuzzer, under sanitizers:
#
#   sh test/fuzz/replay.sh [SANITIZER-FLAGS]
#
# at the top of the checkout.  Ends with `N passed, N failed`; a target is one test, and one
# without kept inputs fails.
set -u
cd "$(dirname "$0")/../.." || exit 1
unset MAKEFLAGS MAKELEVEL
. test/sanitizers.sh
build=build/replay
num_passed=0
num_failed=0

make -s -j "$(getconf _NPROCESSORS_ONLN)" BUILD=$build OPT='-O1 -g' CPPFLAGS=-DSQLITE_CORE \
  SANITIZE="${1-$sanitizers}" fuzz-targets || { echo '0 passed, 1 failed'; exit 1; }

for target in $(make -s list-fuzz-targets); do
  log=$build/$target.log
  if $build/test/fuzz/"$target" test/fuzz/corpus/"$target" >$log 2>&1 </dev/null; then
    num_passed=$((num_passed + 1))
    echo "note: $target: $(tail -n 1 $log)"
  else
    num_failed=$((num_failed + 1))
    echo "FAILED: $target"
    tail -n 60 $log
  fi
done

echo "$num_passed passed, $num_failed failed"
[ $num_failed = 0 ]
