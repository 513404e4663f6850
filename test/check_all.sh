#!/bin/sh
# Everything that test/RELIABILITY.md promises: sh test/check_all.sh [--keep] [WORD ...],
# from any directory (`make check-all`).  Installs what is missing, runs the quick suites and
# the long checks, and prints a table; a new check is one line below.
#
#   A run that was cut, or had failures, goes on where it stopped: what passed, here or in the
#   table of RELIABILITY.md, is not run again while nothing but prose has changed since its commit:
#   pages, this script, test/quality for what it does not run, and benchmarks, which nothing here runs.
#
#   WORD     only checks that have one of these words in their title
#   --keep   their rows take the place of those in test/RELIABILITY.md
#
#   ROWS=FOLDER  where rows are written, build/check_all by default.  Runs in clones of one commit
#                may share a folder, and so the work: each check is run by one of them.
cd "$(dirname "$0")/.." || exit 1
. test/lib/shared.sh
export WERROR=1 REQUIRE_ALL=1 # as in CI: warnings are errors, and so is what cannot run
keep=
if [ "${1-}" = --keep ]; then keep=yes; shift; fi
words=$*
sh test/lib/install_packages.sh build demo test perl apsw recipes check dist wasm browser && make -j "$jobs" || exit 1
work=build/check_all
: "${ROWS:=$PWD/$work}"
mkdir -p $work "$ROWS" || exit 1
find_python
has_code_of() { git diff --quiet "$1" -- . ':!*.md' ':!test/check_all.sh' ':!test/quality' ':!test/bench' 2>/dev/null; }
commit=$(git describe --always --exclude '*')$(has_code_of HEAD || echo -dirty)
measured_at="$(date +%F), $commit"

# row_of TITLE: its row, here or in RELIABILITY.md, if it passed at a commit that had the code of today.
# How tests are counted, in test/quality, is for the checks of that folder alone.
row_of() {
  cat "$its_row" test/RELIABILITY.md 2>/dev/null | grep -F "| $1 | " | grep ' passed, 0 failed |' | while read -r row; do
    its_commit=${row##*, } its_commit=${its_commit% |}
    case $1 in coverage | mutation* | static*) git diff --quiet "$its_commit" -- test/quality || continue ;; esac
    ! has_code_of "$its_commit" || { echo "$row"; break; }
  done
}

playground() { make wasm && sh examples/playground/test.sh; }
static_host() { sh test/lib/install_packages.sh build test wasm && make static-host && sh examples/static_host/test.sh; }

model_of_3_54_1() {
  sh test/lib/build_sqlite.sh 3.54.1 &&
    LD_LIBRARY_PATH=build/sqlite/3.54.1 "$PYTHON" test/vtab/model.py --load ./bloom.so --statements 1000000 --seed "$(date +%s)"
}

joins_of_3_54_1() {
  sh test/lib/build_sqlite.sh 3.54.1 &&
    LD_LIBRARY_PATH=build/sqlite/3.54.1 "$PYTHON" test/sql/joins.py --joins 20000
}

long() {
  its_row=$ROWS/$(echo "$1" | tr -c 'a-zA-Z0-9\n' _).row
  exec 9>"$its_row.lock"
  for word in ${words:-"$1"}; do
    case $1 in *"$word"*) ! flock -n 9 || { once "$@"; return; } ;; esac
  done
  # What is not run, or by another run, keeps the row that it has.
  rows="$rows$(grep -F "| $1 |" test/RELIABILITY.md)
"
}

once() {
  row=$(row_of "$1")
  if [ -n "$row" ]; then
    echo "== $1: passed before"
    passed=${row#"| $1 | "}
    num_passed=$((num_passed + ${passed%% *}))
    rows="$rows$row
"
  else
    suite "$@" 9>&-
    [ "$failed" != 0 ] || printf %s "$rows" | tail -n 1 >"$its_row"
  fi
}

long 'make test'                                          sh test/run.sh --made
long 'static analysis'                                    sh test/quality/static_analysis/run.sh
long 'coverage'                                           sh test/quality/coverage/run.sh
long 'mutation: a sample of the small changes to ext'     "$PYTHON" test/quality/mutation/mutate.py --limit 100 --minutes 15
long 'joins behind bloom_filter, 20,000'                  "$PYTHON" test/sql/joins.py --joins 20000
long 'joins behind bloom_filter, by SQLite 3.54.1'        joins_of_3_54_1
long 'filters that stay up to date, for minutes'     sh test/vtab/run.sh --long
long 'their random worlds, by SQLite 3.54.1'              model_of_3_54_1
long 'bloom_index beside its table, 200,000 queries'      sh test/index/run.sh --long
long 'bloom_index beside its table, by SQLite 3.54.1'     sh test/index/run.sh --newest
long 'fuzzing'                                            sh test/hostile/fuzz/run.sh
long 'out of memory, all statements and encodings'        sh test/faults/oom/run.sh --long
long 'out of memory, with sanitizers'                     sh test/faults/oom/run.sh --sanitize
long 'limits and interruption, newest SQLite'             sh test/faults/limits/run.sh 3.54.1
long 'copies of handles on every SQLite'                  sh test/faults/handles/run.sh 3.31.1 3.38.2 3.44.2 3.52.0 3.54.1
long 'every SQLite: 3.31.1 to 3.54.1, and 3.9.1'          sh test/platforms/every_sqlite.sh
long 'files that LevelDB writes, also by classic-level'   sh test/interop/leveldb_files/run.sh --long
long 'packages: npm, Python, Debian, sqlpkg, archives'    sh test/platforms/packages/run.sh
long 'packages, made and used on a bare Debian 12'          sh test/platforms/packages/bare.sh
long 'the two commands of the README on a bare Debian 12'   sh test/platforms/packages/bare.sh --readme
long 'clients: one scenario in all of them'                sh examples/clients/test.sh
long 'the playground, in Node and Chromium'                playground
long 'a log on a static host, in Chromium'               static_host
long 'a cluster of dqlite, its nodes killed'              sh examples/dqlite/test.sh
long 'Node: better-sqlite3'                               sh examples/node/test.sh
long 'recipes: Django, SQLAlchemy, sqlite-utils, better-sqlite3' sh examples/recipes/test.sh
long 'a catalogue of Parquet files: Node, DuckDB'          sh examples/parquet/test.sh
long 'Parquet files of DuckDB and hyparquet-writer'       sh test/interop/parquet/run.sh
long 'big-endian: s390x'                                  sh test/platforms/machines/run.sh s390x
long '64-bit Arm: aarch64'                                sh test/platforms/machines/run.sh aarch64
long '32-bit: i686'                                       sh test/platforms/machines/run.sh i686
long 'Windows: the DLL under wine'                        sh test/platforms/machines/run.sh windows
long '32-bit: WebAssembly under Node'                      sh test/platforms/machines/run.sh wasm
long 'gcc and clang, -O0 and -O3, with and without SIMD'  sh test/platforms/machines/run.sh builds
long 'threads, SQLite itself under ThreadSanitizer too'   sh test/faults/threads/run.sh 3.54.1
long 'filters past 2^32 bits, beside LevelDB'             sh test/faults/limits/run.sh --big

{
  echo '| what | result | time | how much | measured at |'
  echo '|---|---|---:|---|---|'
  # As much as can be read in a table; the log has it all.
  printf %s "$rows" | grep . | awk 'BEGIN { FS = " [|] "; OFS = " | " } length($4)>300 { $4 = substr($4, 1, 300); sub(/; [^;]*$/, "; ...", $4) } 1'
} >$work/table
cat $work/table
if [ -n "$keep" ]; then
  awk -v table=$work/table '
    /^\| what \| result / { while( (getline line <table)>0 ) print line; is_old = 1 }
    !/^\|/ { is_old = 0 }
    !is_old' test/RELIABILITY.md >$work/RELIABILITY.md && cp $work/RELIABILITY.md test/RELIABILITY.md
fi
finish
