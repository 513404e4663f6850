#!/bin/sh
# Sets everything up and runs the quick tests: sh test/run.sh [--made], from any directory.
#
# Installs what is missing (install_packages.sh; nothing on the second run) unless --made, as by
# `make test`.  Builds all that suites share, then runs the suites two at a time, those that take longest
# first; a new one is one line.  The last line is `N passed, N failed`.
cd "$(dirname "$0")/.." || exit 1
. test/lib/shared.sh
# Not by `make test`: when a test fails, the sum would not stay the last line.
[ "${1-}" = --made ] || sh test/lib/install_packages.sh build test || exit 1
work=build/run
mkdir -p $work || exit 1
find_python
# Freed memory is kept back for a while, but not so much that most of it is new to the kernel.
export ASAN_OPTIONS="malloc_context_size=6:quarantine_size_mb=16${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
find_sanitizers || leave_out 'sanitizers' "${CC:-cc} has no sanitizers here"

programs=build/release/test
make_all() {
  make -s -j "$jobs" all quick-tests && make_tiny && make_linked sql-process fuzz-targets $linked/test/faults/handles/handles
}
make_all >$work/made || { cat $work/made; exit 1; }
has_leveldb=
if grep -q leveldb_oracle_test $programs/core/programs; then
  has_leveldb=yes
else
  leave_out 'live LevelDB' 'LevelDB is not installed; its golden answers and files are read, no live ones'
fi
find_used
echo "== all is built, $used s of processor time"

# Some per cent of the large random counts; test/long.sh has them all.
replay() { BLOOM_TEST_SHARE=20 sh test/hostile/fuzz/replay.sh; }
core() { BLOOM_TEST_SHARE=4 sh test/core/run.sh; }
runner() { tclsh test/sql/runner/self_test.tcl $programs/platforms/machines/sql_process; }
sanitized_sql() {
  tclsh test/sql/runner/sqllogictest.tcl --process $linked/test/platforms/machines/sql_process --encoding UTF-16be --engine sanitizers test/sql/records
}

suites() {
  suite 'bloom_index beside its table, at random and cases' sh test/index/run.sh
  suite 'filters that stay up to date, at random and cases' sh test/vtab/run.sh
  suite 'SQL, with sanitizers'                              sanitized_sql
  suite 'out of memory'                                     sh test/faults/oom/run.sh
  suite 'corrupt input and kept inputs, with sanitizers'    replay
  suite 'README and other pages'                            tclsh test/docs/readme.tcl --quick
  suite 'SQL'                                               tclsh test/sql/runner/sqllogictest.tcl --load ./bloom test/sql/records
  suite 'core: hashes, filters, golden files, live LevelDB' core
  suite 'the demo'                                          sh examples/packages/test.sh quick
  suite 'joins behind bloom_filter, at random'              "$PYTHON" test/sql/joins.py --joins 1000
  suite 'the joins that pages print, their plans'           "$PYTHON" test/sql/join_forms.py
  suite 'what LIMITS.md says'                              "$PYTHON" test/docs/limits.py
  suite 'copies of handles, with sanitizers'                $linked/test/faults/handles/handles ./bloom.so
  suite 'sqllogictest, the runner of the SQL tests'         runner
  [ -z "$has_leveldb" ] || suite 'files that LevelDB writes' sh test/interop/leveldb_files/run.sh
  suite 'ready-made SQL'                                    tclsh test/sql/ready_made.tcl ./bloom
  suite 'query plans'                                       tclsh test/sql/plans.tcl ./bloom
  suite 'loading, again and while statements run'           $programs/faults/load/load ./bloom.so
  suite 'how suites are counted'                            sh test/lib/shared_test.sh
  suite 'no circle of files'                                "$PYTHON" test/quality/circles.py
}
in_lanes suites

find_used
echo "== all suites, $used s of processor time, builds included"
finish
