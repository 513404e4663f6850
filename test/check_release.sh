#!/bin/sh
# Everything before a release, for hours: sh test/check_release.sh [WORD ...], from any directory
# (`make check-release`).  Installs what is missing; WORD: only checks that have one of these words in
# their title.  As in CI warnings are errors, and so is what cannot run.  A new check is one line.
# The last line is `N passed, N failed`.
cd "$(dirname "$0")/.." || exit 1
. test/lib/shared.sh
export WERROR=1 REQUIRE_ALL=1
words=$*
sh test/lib/install_packages.sh build demo test long perl apsw recipes check dist wasm browser && make -j "$jobs" || exit 1
work=build/check_release
mkdir -p $work || exit 1
find_python

playground() { make wasm && sh examples/playground/test.sh; }
static_host() { sh test/lib/install_packages.sh build test wasm && make static-host && sh examples/static_host/test.sh; }

release() {
  for word in ${words:-"$1"}; do
    case $1 in *"$word"*) suite "$@"; return ;; esac
  done
}

release 'the quick tests'                                   sh test/run.sh --made
release 'those that take longer'                            sh test/long.sh
release 'static analysis'                                   sh test/quality/static_analysis/run.sh
release 'coverage'                                          sh test/quality/coverage/run.sh
release 'mutation: a sample of the small changes to ext'    "$PYTHON" test/quality/mutation/mutate.py --limit 100 --minutes 15
release 'filters that stay up to date, for hours'           sh test/vtab/run.sh --longest
release 'bloom_index beside its table, for hours'           sh test/index/run.sh --longest
release 'bloom_index beside its table, by SQLite 3.54.1'    sh test/index/run.sh --newest
release 'fuzzing'                                           sh test/hostile/fuzz/run.sh
release 'out of memory, all statements and encodings'       sh test/faults/oom/run.sh --long
release 'limits and interruption, newest SQLite'            sh test/faults/limits/run.sh 3.54.1
release 'copies of handles on every SQLite'                 sh test/faults/handles/run.sh 3.31.1 3.38.2 3.44.2 3.52.0 3.54.1
release 'every SQLite: 3.31.1 to 3.54.1, and 3.9.1'         sh test/platforms/every_sqlite.sh
release 'files that LevelDB writes, also by classic-level'  sh test/interop/leveldb_files/run.sh --long
release 'packages: npm, Python, Debian, sqlpkg, archives'   sh test/platforms/packages/run.sh
release 'packages, made and used on a bare Debian 12'       sh test/platforms/packages/bare.sh
release 'the two commands of the README on a bare Debian 12' sh test/platforms/packages/bare.sh --readme
release 'clients: one scenario in all of them'              sh examples/clients/test.sh
release 'the playground, in Node and Chromium'              playground
release 'a log on a static host, in Chromium'               static_host
release 'a cluster of dqlite, its nodes killed'             sh examples/dqlite/test.sh
release 'Node: better-sqlite3'                              sh examples/node/test.sh
release 'recipes: Django, SQLAlchemy, sqlite-utils, better-sqlite3' sh examples/recipes/test.sh
release 'a catalogue of Parquet files: Node, DuckDB'        sh examples/parquet/test.sh
release 'Parquet files of DuckDB and hyparquet-writer'      sh test/interop/parquet/run.sh
release 'big-endian: s390x'                                 sh test/platforms/machines/run.sh s390x
release '64-bit Arm: aarch64'                               sh test/platforms/machines/run.sh aarch64
release '32-bit: i686'                                      sh test/platforms/machines/run.sh i686
release 'Windows: the DLL under wine'                       sh test/platforms/machines/run.sh windows
release '32-bit: WebAssembly under Node'                    sh test/platforms/machines/run.sh wasm
release 'gcc and clang, -O0 and -O3, with and without SIMD' sh test/platforms/machines/run.sh builds
release 'threads, SQLite itself under ThreadSanitizer too'  sh test/faults/threads/run.sh 3.54.1
release 'filters past 2^32 bits, beside LevelDB'            sh test/faults/limits/run.sh --big
finish
