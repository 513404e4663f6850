#!/bin/sh
# Keeps the fewest inputs that reach all that the last fuzzing and the kept inputs reach:
# sh test/hostile/fuzz/keep.sh, at the top of the checkout, after run.sh.  Writes the lines below the
# mark of test/hostile/fuzz/corpus/TARGET.hex, and leaves those above it.
. test/lib/shared.sh
set -e
for target in $(make -s list-fuzz-targets); do
  kept=test/hostile/fuzz/corpus/$target.hex
  merged=build/fuzz/merged/$target
  rm -rf "$merged"
  mkdir -p "$merged"
  "build/fuzz/test/hostile/fuzz/$target" -set_cover_merge=1 -use_counters=0 "$merged" "build/fuzz/kept/$target" "build/fuzz/corpus/$target" 2>/dev/null
  sed '/^# -- mark$/q' "$kept" >"$merged.hex"
  for input in "$merged"/*; do
    od -An -v -tx1 "$input" | tr -d ' \n'
    echo
  done | sort >>"$merged.hex"
  mv "$merged.hex" "$kept"
  echo "$target: $(grep -vc '^#' "$kept") inputs"
done
