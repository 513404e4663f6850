#!/bin/sh
# What takes longer than test/run.sh has time for, about an hour of one core: sh test/long.sh, from any
# directory (`make test-long`).  Installs what is missing, and runs the random tests for longer, always with
# other seeds.  A new suite is one line.  The last line is `N passed, N failed`.
cd "$(dirname "$0")/.." || exit 1
. test/lib/shared.sh
sh test/lib/install_packages.sh build demo test long perl apsw recipes && make -s -j "$jobs" || exit 1
work=build/long
mkdir -p $work || exit 1
find_python

by_3_54_1() {
  sh test/lib/build_sqlite.sh 3.54.1 && LD_LIBRARY_PATH=build/sqlite/3.54.1 "$PYTHON" "$@"
}

sanitized_sql() {
  make_linked sql-process &&
    tclsh test/sql/runner/sqllogictest.tcl --process $linked/test/platforms/machines/sql_process test/sql/records
}

suite 'core, all random counts'                         sh test/core/run.sh
if find_sanitizers; then
  suite 'SQL, with sanitizers, all records'             sanitized_sql
  suite 'corrupt input, with sanitizers, all drawn'     sh test/hostile/fuzz/replay.sh
  suite 'core, with sanitizers'                         sh test/core/run.sh --sanitize
  suite 'loading, with sanitizers'                      sh test/faults/load/run.sh
  suite 'copies of handles, two copies with sanitizers' sh test/faults/handles/run.sh
  suite 'out of memory, with sanitizers'                sh test/faults/oom/run.sh --sanitize
else
  leave_out 'sanitizers' "${CC:-cc} has no sanitizers here"
fi
suite 'core builds and links without SQLite'            sh test/core/no_sqlite.sh
suite 'limits and interruption'                         sh test/faults/limits/run.sh
suite 'threads'                                         sh test/faults/threads/run.sh
suite 'README and other pages'                          tclsh test/docs/readme.tcl
suite 'library: symbols, compilers, linking, installing' sh test/platforms/library.sh
suite 'examples: shell, C, Python'                      sh examples/test.sh
suite 'examples: packages'                              sh examples/packages/test.sh
suite 'clients: those that are quick to install'        sh examples/clients/test.sh --made quick
suite 'recipes: frameworks that are installed'          sh examples/recipes/test.sh quick
suite 'plots: of the results that are kept'             "$PYTHON" test/bench/plots.py --check
suite 'joins behind bloom_filter, 20,000'               "$PYTHON" test/sql/joins.py --joins 20000
suite 'joins behind bloom_filter, by SQLite 3.54.1'     by_3_54_1 test/sql/joins.py --joins 20000
suite 'filters that stay up to date, for longer'        sh test/vtab/run.sh --long
suite 'their random worlds, by SQLite 3.54.1'           by_3_54_1 test/vtab/model.py --load ./bloom.so --statements 250000 --seed "$(date +%s)"
suite "triggers' notes of rows, by SQLite 3.54.1"       by_3_54_1 test/index/writers.py --load build/tiny/bloom
suite 'replayed rows, by SQLite 3.54.1'                 by_3_54_1 test/source/replays.py --load ./bloom.so --seed "$(date +%s)"
suite 'bloom_index beside its table, for longer'        sh test/index/run.sh --long

find_used
echo "== all suites, $used s of processor time"
finish
