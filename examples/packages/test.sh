#!/bin/sh
# Tests the demo: on this machine's package index if it has one and on the
# snapshot, from another folder; and that it stops when a result is wrong or a
# step fails. Last line: "N passed, N failed".  sh test.sh quick: among a
# quarter of the snapshot alone.
set -u
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM
passed=0
failed=0

check() { # check WHAT COMMAND...: passes if the command succeeds
  what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $what"
  fi
}

# A copy of the example in a folder of its own, with a space in its name.
copy_example() {
  rm -rf "$scratch/a copy"
  mkdir -p "$scratch/a copy/examples" "$scratch/no home"
  cp "$root"/bloom.[sd]* "$scratch/a copy/"
  cp -R "$here" "$scratch/a copy/examples/packages"
}
# demo VARIABLE=VALUE...: runs the copy's demo from /, its output in $scratch/out.
demo() {
  (cd / && env HOME="$scratch/no home" BLOOM_DEMO_RUNS=1 "$@" sh "$scratch/a copy/examples/packages/run.sh") > "$scratch/out" 2>&1
}
fails() { ! "$@"; }
says() { grep -q -e "$1" "$scratch/out"; }
says_times() { [ "$(grep -c -e "$2" "$scratch/out")" -eq "$1" ]; }
# Every line with two comma-parted counts of look-ups: the screened one is smaller.
fewer_lookups() {
  awk '/^  plain  +[0-9]/ { gsub(",", ""); plain = $3 }
       /^  pre-screened  +[0-9]/ { gsub(",", ""); n++; if ($3 >= plain || $3 < $4) bad = 1 }
       END { exit !(n == 2 && !bad) }' "$scratch/out"
}
# Pieces: what may hold a name is what holds it and the false alarms.
pieces_add_up() {
  awk '/ (yes|DIFFER)$/ && / KB / { gsub(",", ""); n++; if ($2 != $3 + $4 || $NF != "yes") bad = 1 }
       END { exit !(n == 6 && !bad) }' "$scratch/out"
}
# Where SQLite made one for the texts, and it spared few look-ups, as up to 3.53.
own_filter_is_explained() {
  ! says 'SQLite made a filter of its own' || says 'Why so few? That filter does not read texts' ||
    [ "$(sqlite3 :memory: "SELECT sqlite_version() >= '3.54'")" = 1 ]
}
no_noise() {
  ! grep -i -E 'error|warning|nan|/tmp|not found' "$scratch/out"
}

check_output() { # check_output DATA
  check "$1: three joins, equal results" says_times 3 'Results equal: yes'
  check "$1: hundreds of thousands of rows" says '^  needs  *[0-9][0-9][0-9],[0-9][0-9][0-9] '
  check "$1: fewer look-ups with the filter" fewer_lookups
  check "$1: filters are described" says_times 4 'a filter of .* bytes for '
  check "$1: plans are shown" says_times 6 'Plan, '
  check "$1: pieces add up" pieces_add_up
  check "$1: a name that is nowhere" says 'no-such-package  *[0-9]*  *0 '
  check "$1: what a BloomFile is, and why pieces are several sets" says 'a piece of more than 128 names becomes several sets'
  check "$1: why SQLite's own filter spares few look-ups" own_filter_is_explained
  check "$1: a BloomFile finds all pieces" says '^  [1-9][0-9]* hold it really, and all of these were found'
  check "$1: how many maybes are wrong" says '^  A filter each has [1-9][0-9]* wrong ones: about 1 in [1-9][0-9]* of the [1-9][0-9]* pairs'
  check "$1: ends well" says 'every pre-screened result equals the plain one'
  check "$1: no error or machine path in the output" no_noise
}

# The snapshot has no descriptions; what a machine's package index gives for step 8.
descriptions_are_indexed() {
  mkdir -p "$scratch/texts/build/demo" && cp "$root"/bloom.[sd]* "$scratch/texts/" &&
    printf '1\037bash\037GNU Bourne Again SHell\0362\037sed\037GNU stream editor\036' > "$scratch/texts/build/demo/descriptions.txt" &&
    (cd "$scratch/texts" && { echo '.load ./bloom'; cat "$here/sql/descriptions/build.sql"; } | sqlite3 -batch :memory:) > "$scratch/out" 2>&1 &&
    says '^  2 descriptions, 0 KB; their bloom_index: [0-9][0-9]* KB$'
}

gzip -dc "$here/data/packages.tsv.gz" | awk 'NR % 4 == 1' | gzip > "$scratch/few.gz"
copy_of_few() { copy_example && cp "$scratch/few.gz" "$scratch/a copy/examples/packages/data/packages.tsv.gz"; }

copy_example
# A start-up file of the user's must not change what the shell prints.
echo '.mode box' > "$scratch/no home/.sqliterc"

if [ "${1-}" = quick ]; then
  copy_of_few
  check "a quarter: runs" demo BLOOM_DEMO_DATA=snapshot
  check "a quarter: three joins, equal results" says_times 3 'Results equal: yes'
  check "a quarter: pieces add up" pieces_add_up
  check "a quarter: ends well" says 'every pre-screened result equals the plain one'
  check "a quarter: no error or machine path in the output" no_noise
  check "descriptions have an index" descriptions_are_indexed
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit
fi

# An empty package index leads to the snapshot, or to a clear end if insisted on.
mkdir "$scratch/bin"
printf '#!/bin/sh\nexit 100\n' > "$scratch/bin/apt-cache"
chmod +x "$scratch/bin/apt-cache"
check "snapshot: runs where there is no index" demo PATH="$scratch/bin:$PATH"
check "snapshot: says so" says 'none here'
check_output snapshot
check "snapshot: is Debian 12's" says 'packages  *63,666 '

if [ "$(apt-cache dumpavail 2> /dev/null | grep -c '^Package:')" -ge 5000 ]; then
  check "machine: runs" demo BLOOM_DEMO_DATA=machine
  check_output machine
  check "machine: says so" says "this machine's package index"
  check "machine: LIKE finds the same by blocks" says_times 4 "^  '%.*%'  *[0-9]* .* ms .* ms  yes"
  check "machine: owners of paths" says_times 2 'hold it really, and all of these were found'
else
  echo "no package index on this machine: tested with the snapshot alone"
fi

check "no index, insisted on: fails" fails demo PATH="$scratch/bin:$PATH" BLOOM_DEMO_DATA=machine
check "no index, insisted on: says why" says 'no package index'
check "unknown data: fails" fails demo BLOOM_DEMO_DATA=other
check "unknown data: says why" says "it can be 'machine' or 'snapshot'"

# A pre-screened join that loses rows must be caught, among a quarter of the packages, too.
edit() { # edit FILE SCRIPT
  sed -e "$2" "$here/$1" > "$scratch/a copy/examples/packages/$1"
}
copy_of_few
edit sql/joins/integer_screened.sql "s/SELECT count(\*)/SELECT count(*) - 1/"
check "wrong join: fails" fails demo BLOOM_DEMO_DATA=snapshot
check "wrong join: says so" says 'Results DIFFER'
copy_of_few
edit sql/filters.sql "s/WHERE installed_kb >= 102400/WHERE installed_kb >= 302400/"
check "filter of the wrong keys: fails" fails demo BLOOM_DEMO_DATA=snapshot
check "filter of the wrong keys: says which join" says "the pre-screened join 'text' gave another result"
copy_of_few
edit sql/pieces/build.sql "s/bloom_build(DISTINCT target)/bloom_build(DISTINCT package)/"
check "wrong piece filters: fails" fails demo BLOOM_DEMO_DATA=snapshot
check "wrong piece filters: says so" says 'a filter said no to'
copy_of_few
edit sql/filters.sql "s/bloom_build(name)/bloom_biuld(name)/"
check "SQL error: fails" fails demo BLOOM_DEMO_DATA=snapshot
check "SQL error: shows SQLite's message" says 'no such function: bloom_biuld'

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
