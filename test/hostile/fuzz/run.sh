#!/bin/sh
# Fuzzes every target in turn, from the kept corpus on:
#
#   sh test/hostile/fuzz/run.sh [EXECUTIONS [TARGET ...]]
#
# at the top of the checkout; needs clang with libFuzzer.  EXECUTIONS of each target, or $FUZZ_EXECUTIONS; without
# either, $FUZZ_SECONDS or 70 seconds of each.  The kept inputs, corpus/TARGET.hex, are unpacked to
# build/fuzz/kept/TARGET; those that reach something new are added to build/fuzz/corpus/TARGET, from which keep.sh
# keeps them; what breaks a promise lies in build/fuzz/findings/TARGET.
#
# Says how many executions ran, and how long; ends with `N passed, N failed`.
. test/lib/shared.sh
find_python
executions=${1:-${FUZZ_EXECUTIONS:-}}
case $executions in
  *[!0-9]*) echo "run.sh: '$executions' is no number of executions; targets come after it" >&2; exit 2 ;;
esac
[ $# = 0 ] || shift
build=build/fuzz

# Comparisons are not traced: the targets' inputs have no magic numbers to find.
make -s -j "$jobs" BUILD=$build CC="${CLANG:-clang}" OPT='-O2 -g' CPPFLAGS=-DSQLITE_CORE \
  SANITIZE="$sanitizers -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp" \
  FUZZER=-fsanitize=fuzzer fuzz-targets >/dev/null || { echo '0 passed, 1 failed'; exit 1; }

# Speed: leave out what makes malloc() slow, and libFuzzer's weighing of rare features.
ASAN_OPTIONS=malloc_context_size=2:quarantine_size_mb=4:max_malloc_fill_size=0:allocator_release_to_os_interval_ms=-1
export ASAN_OPTIONS

if [ -n "$executions" ]; then
  limit="-runs=$executions"
else
  limit="-max_total_time=${FUZZ_SECONDS:-70}"
fi

[ $# != 0 ] || set -- $(make -s list-fuzz-targets)
for target in "$@"; do
  case $target in
    sql_statements) max_bytes=96 ;; # a statement, or a history of a dozen
    *)              max_bytes=200 ;;
  esac
  log=$build/$target.log
  rm -rf $build/kept/$target
  mkdir -p $build/corpus/$target $build/findings/$target $build/kept/$target
  "$PYTHON" -c 'import sys
for number, line in enumerate(open(sys.argv[1])):
    words = line.removeprefix("mangle ").split() or [""]
    if words[0] not in ("#", "draw"): open(f"{sys.argv[2]}/{number}", "wb").write(bytes.fromhex(words[0]))' \
    test/hostile/fuzz/corpus/$target.hex $build/kept/$target || exit 1
  $build/test/hostile/fuzz/$target "$limit" -max_len=$max_bytes -entropic=0 -reload=0 -report_slow_units=600 -artifact_prefix=$build/findings/$target/ \
    $build/corpus/$target $build/kept/$target >$log 2>&1 </dev/null
  status=$?
  done=$(sed -n 's/^Done \([0-9]*\) runs in \([0-9]*\) second.*/\1 executions in \2 s/p' $log)
  if [ $status = 0 ] && [ -n "$done" ]; then
    num_passed=$((num_passed + 1))
    echo "note: $target: $done"
  else
    num_failed=$((num_failed + 1))
    echo "FAILED: $target: exit status $status"
    grep -vE '^#[0-9]+' $log | tail -n 60
  fi
done

finish
