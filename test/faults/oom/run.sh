#!/bin/sh
# Every allocation fails in turn: sh test/faults/oom/run.sh [--sanitize] [--long], at the top of
# the checkout.  oom.c says what is tested.
#
# Of the allocations of a statement some fail, others of each (oom.c, --sample); all do with
#
#   --sanitize   with AddressSanitizer and UndefinedBehaviorSanitizer
#   --long       the statements that take long, too, in all encodings of databases
#
# Ends with `N passed, N failed`.
. test/lib/shared.sh
build=build/release
extension=./bloom.so
long=
sample=--sample
for argument; do
  case $argument in
    --sanitize) build=build/sanitize extension=build/sanitize/bloom.so sample= ;;
    --long)     long=--long sample= ;;
    *)          sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done
if [ $build = build/sanitize ]; then
  make_sanitized $extension $build/test/faults/oom/oom || exit
  # Short stacks and little kept of what was freed: thousands of small connections come and go.
  ASAN_OPTIONS=malloc_context_size=6:quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}
  export ASAN_OPTIONS
else
  make -j "$jobs" $extension $build/test/faults/oom/oom || exit
fi
work=build/oom
mkdir -p $work || exit 1
# Plans of bloom_index allocate thousands of times.
for each in statements table_statements ${long:+index_statements}; do
  case $each in
    statements)       options="$long $sample" ;;
    table_statements) options="$long $sample --some" ;;
    index_statements) options=--some ;;
  esac
  # shellcheck disable=SC2086 # options
  adds_up $each $build/test/faults/oom/oom $options $extension test/faults/oom/$each.sql
  grep '^note: ' $work/log
done
finish
