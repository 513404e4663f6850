#!/bin/sh
# Sets everything up and runs the tests: sh test/run.sh [--made], from any directory.
#
# Installs what is missing (install_packages.sh; nothing on the second run) and builds,
# unless --made says that this is done, as `make test` does.  Then every quick suite in turn;
# a new one is one line at the end.  The last line is `N passed, N failed`.
cd "$(dirname "$0")/.." || exit 1
. test/lib/shared.sh
if [ "${1-}" != --made ]; then
  # Not by `make test`: when a test fails, the sum would not stay the last line.
  sh test/lib/install_packages.sh build demo test perl apsw recipes && make -s -j "$jobs" || exit 1
fi
work=build/run
mkdir -p $work || exit 1
find_python

self_test() { make sql-process && tclsh test/sql/runner/self_test.tcl build/release/test/platforms/machines/sql_process; }
# A tenth of the large random counts: the first suite has them all, and memory errors need fewer.
sanitized_core() { make_sanitized core-tests && BLOOM_TEST_SHARE=10 sh test/core/run.sh build/sanitize; }
sanitized_sql() { make_sanitized && sanitized tclsh test/sql/runner/sqllogictest.tcl --load build/sanitize/bloom --encoding UTF-16be test/sql/records; }

suite 'core: hashes, filters, golden files, live LevelDB'  sh test/core/run.sh
if grep -q leveldb_oracle_test build/release/test/core/programs; then
  suite 'files that LevelDB writes'                        sh test/interop/leveldb_files/run.sh
else
  leave_out 'live LevelDB' 'LevelDB is not installed; its golden answers and files are read, no live ones'
fi
if ! grep -q siphash_oracle_test build/release/test/core/programs; then
  leave_out 'live libsodium' "libsodium is not installed; SipHash's published vectors are tried, no live answers"
fi
suite 'core builds and links without SQLite'               sh test/core/no_sqlite.sh
suite 'sqllogictest, the runner of the SQL tests'          self_test
suite 'SQL'                                                tclsh test/sql/runner/sqllogictest.tcl --load ./bloom test/sql/records
suite 'joins behind bloom_filter, at random'              "$PYTHON" test/sql/joins.py
suite 'the joins that pages print, their plans'            "$PYTHON" test/sql/join_forms.py
suite 'query plans'                                        tclsh test/sql/plans.tcl ./bloom
suite 'ready-made SQL'                                     tclsh test/sql/ready_made.tcl ./bloom
suite 'filters that stay up to date, at random'         sh test/vtab/run.sh
suite 'bloom_index beside its table, at random'            sh test/index/run.sh
suite 'out of memory'                                      sh test/faults/oom/run.sh
suite 'loading, again and while statements run'            sh test/faults/load/run.sh
suite 'limits and interruption'                            sh test/faults/limits/run.sh
suite 'threads'                                            sh test/faults/threads/run.sh
suite 'library: symbols, compilers, linking, installing'   sh test/platforms/library.sh
suite 'README'                                             tclsh test/docs/readme.tcl
suite 'what breaks: each sentence of that page'            "$PYTHON" test/docs/breaks.py
suite 'plots: of the results that are kept'                "$PYTHON" test/bench/plots.py --check
suite 'examples: shell, C, Python'                         sh examples/test.sh
suite 'clients: those that are quick to install'            sh examples/clients/test.sh --made quick
suite 'recipes: frameworks that are installed'             sh examples/recipes/test.sh quick
suite 'examples: packages'                                 sh examples/packages/test.sh
if find_sanitizers; then
  suite 'core, with sanitizers'                            sanitized_core
  suite 'SQL, with sanitizers'                             sanitized_sql
else
  leave_out 'sanitizers' "${CC:-cc} has no sanitizers here"
fi
suite 'copies of handles, with sanitizers'                 sh test/faults/handles/run.sh
suite 'corrupt input and kept inputs, with sanitizers'         sh test/hostile/fuzz/replay.sh

find_used
echo "== all suites, $used s of processor time"
finish
