#!/bin/sh
# Replays the kept inputs through every fuzz target, without libFuzzer, with sanitizers where
# there are any: sh test/hostile/fuzz/replay.sh, at the top of the checkout.  A target is one test, and
# one without kept inputs fails.  Ends with `N passed, N failed`.
. test/lib/shared.sh
find_sanitizers
make_linked fuzz-targets >/dev/null || { echo '0 passed, 1 failed'; exit 1; }

for target in $(make -s list-fuzz-targets); do
  log=$linked/$target.log
  if $linked/test/hostile/fuzz/"$target" "test/hostile/fuzz/corpus/$target.hex" >$log 2>&1 </dev/null; then
    num_passed=$((num_passed + 1))
    echo "note: $target: $(tail -n 1 $log)"
  else
    num_failed=$((num_failed + 1))
    echo "FAILED: $target"
    tail -n 60 $log
  fi
done

finish
