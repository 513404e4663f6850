#!/bin/sh
# Prints the table "Lines by folder" of ext/BUILDING.md: sh test/docs/lines.sh [before [after]]
before=${1:-0105e2f} after=${2:-HEAD}
count(){ # commit, regular expression of names, of names to leave out
  git ls-tree -r --name-only "$1" | grep -E "$2" | grep -vE "${3:-^$}" | sed "s|^|$1:|" | tr '\n' '\0' | xargs -0 -r git show | wc -l
}
row(){ # title, names, left out
  printf '| %s | %d | %d |\n' "$1" "$(count "$before" "$2" "$3")" "$(count "$after" "$2" "$3")"
}
echo '| | 1.0.0 | now |'
echo '|---|---:|---:|'
row 'ext/core' '^ext/core/.*\.[ch]$' '/signature/'
row 'ext/core/signature' '/signature/.*\.[ch]$'
row 'ext/sqlite itself, and ext/bloom.c' '^ext/(sqlite/)?[^/]*\.[ch]$'
for folder in functions source vtab index; do row "ext/sqlite/$folder" "^ext/sqlite/$folder/.*\\.[ch]$"; done
row '**ext**, .c and .h' '^ext/.*\.[ch]$'
row '**ext**, .c alone, without bloom_index' '^ext/.*\.c$' '/(signature|index)/'
for folder in examples sql test; do row "**$folder**, all files" "^$folder/"; done
