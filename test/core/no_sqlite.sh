#!/bin/sh
# The core stays pure: C11 that knows no SQLite, allocates nothing, keeps no mutable state.  Checks what the compiler
# sees, not what the source looks like: every header that is read, every symbol that is needed from other libraries,
# every section that could be written to.
#
#   sh test/core/no_sqlite.sh [core folder]     CC and CPPFLAGS are used
#
# Prints `N passed, N failed` last; the exit status is 0 if none failed.

cd "$(dirname "$0")/../.." || exit 1
core=${1:-ext/core}
CC=${CC:-cc}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# The C library as the core may know it: integers, sizes, moving bytes; xxHash and the compiler's vector instructions,
# all of them in their headers; and what the compiler knows of the processor.  It may turn any loop into one of the
# mem functions by itself.
headers='assert\.h stddef\.h stdint\.h string\.h xxhash\.h immintrin\.h'
symbols='memcpy memmove memset memcmp memchr bcmp strcmp strchr __cpu_model __stack_chk_fail _GLOBAL_OFFSET_TABLE_'

. test/lib/shared.sh
# is_empty TEXT: what is wrong.
is_empty(){ [ -z "$1" ] || { printf '%s\n' "$1"; false; }; }

# compile <file> <flags>: with the standard that the core promises.
compile(){
  source=$1
  shift
  # shellcheck disable=SC2086 # CC and CPPFLAGS may be several words
  $CC -std=c11 -pedantic-errors -O2 -fPIC ${CPPFLAGS-} "$@" "$source"
}

for file in "$core"/*.[ch] "$core"/*/*.[ch]; do
  includes=$(sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*//p' "$file")
  pattern=$(printf '%s' "$headers" | sed 's/ /|/g')
  check "$file includes more of the C library than it may" is_empty \
    "$(printf '%s\n' "$includes" | grep '^<' | grep -vE "^<($pattern)>")"
  # Dependencies point one way: an encoding's folder knows itself and the ground, the
  # ground knows itself, and the list of encodings alone knows the folders.
  case $file in
    "$core"/*/*) may_include='^"(\.\./)?[^/]*"' ;;
    "$core"/encodings.c) may_include='^"([^/.]*/)?[^/]*"' ;;
    *) may_include='^"[^/]*"' ;;
  esac
  check "$file includes what it may not know" is_empty \
    "$(printf '%s\n' "$includes" | grep '^"' | grep -vE "$may_include")"

  # A header must be complete by itself.  And everything that is read, however indirectly.
  case $file in *.c) into="-c -o $work/$(echo "${file%.c}" | tr / -).o" ;; *) into='-x c -fsyntax-only' ;; esac
  # shellcheck disable=SC2086 # options
  check "$file does not compile alone" is_empty "$(compile "$file" $into -MD -MF "$work/read" 2>&1)"
  check "$file reads a header of SQLite" is_empty "$(tr ' ' '\n' <"$work/read" | grep -i sqlite)"
done

# The symbols that the objects need, without those that they define themselves.
nm -g "$work"/*.o | awk 'NF==2 && $1=="U" {print $2}' | sort -u >"$work/needed"
nm -g "$work"/*.o | awk 'NF==3 {print $3}' | sort -u >"$work/defined"
printf '%s\n' $symbols | sort -u >"$work/allowed"
check "the core calls what it may not" is_empty \
  "$(comm -23 "$work/needed" "$work/defined" | sed "$([ "$(uname -s)" = Darwin ] && echo 's/^_//')" |
     sort | comm -23 - "$work/allowed")"
# Else an empty list of objects would pass.
check "the core defines too little: did it compile?" is_empty \
  "$(grep -q bloom_filter_read "$work/defined" || echo 'no bloom_filter_read')"

# .data.rel.ro is constant once the addresses in it are set.
if size -A "$work"/*.o >"$work/sections" 2>/dev/null; then
  check "the core has mutable state" is_empty \
    "$(awk '$2==":" || /:$/ {file=$1}
            $1~/^\.(data|bss|tdata|tbss)/ && $1!~/^\.data\.rel\.ro/ && $2>0 {
              sub(/.*\//, "", file); print file, $1, $2 " bytes"}' "$work/sections")"
  check "the core has common symbols" is_empty "$(nm "$work"/*.o | awk '$2=="C" {print $3}')"
else
  echo "note: no size -A here: mutable state is not checked"
fi

finish
