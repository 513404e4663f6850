#!/bin/sh
# Loading, again and while statements run: sh test/faults/load/run.sh, at the top of the checkout.  load.c says what is
# tested.  The extension as the Makefile builds it, and with sanitizers.  Ends with `N passed, N failed`.
. test/lib/shared.sh
work=build/load
mkdir -p $work || exit 1
make -j "$jobs" bloom.so build/release/test/faults/load/load || exit

sanitized=build/sanitize
builds_sanitized() { make_sanitized $sanitized/bloom.so $sanitized/test/faults/load/load; }

adds_up 'as built by make' build/release/test/faults/load/load ./bloom.so
grep '^note: ' $work/log
if find_sanitizers; then
  check 'it builds with sanitizers' builds_sanitized
  adds_up 'with sanitizers' $sanitized/test/faults/load/load $sanitized/bloom.so
fi
finish
