#!/bin/sh
# Keeps the smallest set of inputs that reaches all that build/fuzz/corpus (what run.sh
# found) and the kept corpus reach: sh test/fuzz/keep.sh, after run.sh.
#
# Findings that were fixed have names, not check sums: they stay whatever they reach.
set -eu
cd "$(dirname "$0")/../.."
unset MAKEFLAGS MAKELEVEL
for target in $(make -s list-fuzz-targets); do
  corpus=test/fuzz/corpus/$target
  merged=build/fuzz/merged/$target
  rm -rf "$merged"
  mkdir -p "$merged" "$corpus" "build/fuzz/corpus/$target"
  "build/fuzz/test/fuzz/$target" -merge=1 -use_counters=0 "$merged" "$corpus" "build/fuzz/corpus/$target" 2>/dev/null
  # libFuzzer's names: 40 hexadecimal digits.
  find "$corpus" -type f | grep -E '/[0-9a-f]{40}$' | xargs -r rm
  cp "$merged"/* "$corpus"
  echo "$target: $(find "$corpus" -type f | wc -l) inputs, $(cat "$corpus"/* | wc -c) bytes"
done
