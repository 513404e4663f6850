#!/bin/sh
# Keeps the fewest inputs that reach, with those that are drawn, all that the last fuzzing and the
# kept inputs reach: sh test/hostile/fuzz/keep.sh, at the top of the checkout, after run.sh.  Writes
# the lines below the mark of test/hostile/fuzz/corpus/TARGET.hex, and leaves those above it.
. test/lib/shared.sh
set -e
make -s -j "$jobs" BUILD=build/fuzz/plain CPPFLAGS=-DSQLITE_CORE fuzz-targets
for target in $(make -s list-fuzz-targets); do
  kept=test/hostile/fuzz/corpus/$target.hex
  merged=build/fuzz/merged/$target
  rm -rf "$merged"
  mkdir -p "$merged"
  # The drawn ones are there already.
  FUZZ_DRAWN=$merged "build/fuzz/plain/test/hostile/fuzz/$target" "$kept" >/dev/null 2>&1 || true
  "build/fuzz/test/hostile/fuzz/$target" -set_cover_merge=1 -use_counters=0 "$merged" "build/fuzz/kept/$target" "build/fuzz/corpus/$target" 2>/dev/null
  sed '/^# -- mark$/q' "$kept" >"$merged.hex"
  rm -f "$merged"/drawn-*
  for input in "$merged"/*; do
    od -An -v -tx1 "$input" | tr -d ' \n'
    echo
  done | sort >>"$merged.hex"
  mv "$merged.hex" "$kept"
  echo "$target: $(grep -vc '^#' "$kept") inputs"
done
