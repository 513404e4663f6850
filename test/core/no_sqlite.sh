#!/bin/sh
# The core stays pure: C11 that knows no SQLite, allocates nothing, keeps no
# mutable state.  Checks what the compiler sees, not what the source looks like:
# every header that is read, every symbol that is asked of other libraries,
# every section that could be written to.
#
#   sh test/core/no_sqlite.sh [core folder]     CC and CPPFLAGS are used
#
# Prints `N passed, N failed` last; the exit status is 0 if none failed.

cd "$(dirname "$0")/../.." || exit 1
core=${1:-ext/core}
CC=${CC:-cc}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# The C library as the core may know it: integers, sizes, moving bytes; xxHash
# and the compiler's vector instructions, all of them in their headers; and what
# the compiler knows of the processor.  It may turn any loop into one of the mem
# functions by itself.
headers='stddef\.h stdint\.h string\.h xxhash\.h immintrin\.h arm_neon\.h'
symbols='memcpy memmove memset memcmp __cpu_model __stack_chk_fail _GLOBAL_OFFSET_TABLE_'

passed=0
failed=0
# check <what> <what is wrong; empty if nothing>
check(){
  if [ -z "$2" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAIL %s:\n%s\n' "$1" "$2" | sed '2,$s/^/  /'
  fi
}

# compile <file> <flags>: with the standard that the core promises.
compile(){
  source=$1
  shift
  # shellcheck disable=SC2086 # CC and CPPFLAGS may be several words
  $CC -std=c11 -pedantic-errors -O2 -fPIC $CPPFLAGS "$@" "$source"
}

for file in "$core"/*.c "$core"/*.h; do
  includes=$(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*//p' "$file")
  pattern=$(printf '%s' "$headers" | sed 's/ /|/g')
  check "$file includes more of the C library than it may" \
    "$(printf '%s\n' "$includes" | grep '^<' | grep -vE "^<($pattern)>")"
  check "$file includes from outside of the core" \
    "$(printf '%s\n' "$includes" | grep '^"' | grep '/')"

  # A header must be complete by itself.
  check "$file does not compile alone" "$(compile "$file" -x c -fsyntax-only 2>&1)"

  # Everything read, however indirectly.
  check "$file reads a header of SQLite" \
    "$(compile "$file" -x c -M 2>&1 | tr ' ' '\n' | grep -i sqlite)"
done

for source in "$core"/*.c; do
  object=$scratch/$(basename "$source" .c).o
  compile "$source" -c -o "$object" 2>/dev/null
done

# What the objects together ask for, minus what they give each other.
nm -g "$scratch"/*.o | awk 'NF==2 && $1=="U" {print $2}' | sort -u >"$scratch/asked"
nm -g "$scratch"/*.o | awk 'NF==3 {print $3}' | sort -u >"$scratch/given"
printf '%s\n' $symbols | sort -u >"$scratch/allowed"
check "the core calls what it may not" \
  "$(comm -23 "$scratch/asked" "$scratch/given" | sed "$([ "$(uname -s)" = Darwin ] && echo 's/^_//')" |
     sort | comm -23 - "$scratch/allowed")"
# Else an empty list of objects would pass.
check "the core defines too little: did it compile?" \
  "$(grep -q bloom_filter_read "$scratch/given" || echo 'no bloom_filter_read')"

# .data.rel.ro is constant once the addresses in it are set.
if size -A "$scratch"/*.o >"$scratch/sections" 2>/dev/null; then
  check "the core has mutable state" \
    "$(awk '$2==":" || /:$/ {file=$1}
            $1~/^\.(data|bss|tdata|tbss)/ && $1!~/^\.data\.rel\.ro/ && $2>0 {
              sub(/.*\//, "", file); print file, $1, $2 " bytes"}' "$scratch/sections")"
  check "the core has common symbols" "$(nm "$scratch"/*.o | awk '$2=="C" {print $3}')"
else
  echo "note: no size -A here: mutable state is not checked"
fi

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
