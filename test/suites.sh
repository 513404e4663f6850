#!/bin/sh
# Runs every quick suite in turn: sh test/suites.sh, at the top of the checkout, after
# `make`.  `make test` and test/run.sh come here; a new suite is one line at the end.
# The long ones are in test/check_all.sh.
. test/suite.sh
. test/sanitizers.sh
jobs=$(getconf _NPROCESSORS_ONLN)

# The build with AddressSanitizer and UndefinedBehaviorSanitizer, beside the release's.
make_sanitized() {
  make -j "$jobs" BUILD=build/sanitize EXTENSION=build/sanitize/bloom.so OPT='-O1 -g' SANITIZE="$sanitizers" "$@"
}

# The programs that load the extension are not sanitized: the runtimes must be there first.
sanitized() {
  env LD_PRELOAD="$(${CC:-cc} -print-file-name=libasan.so) $(${CC:-cc} -print-file-name=libubsan.so)" "$@"
}

core() {
  make -j "$jobs" core-tests && sh test/cmocka.sh build/release
}
runner() { make sql-process && tclsh test/runner.tcl build/release/test/machines/sql_process; }
sanitized_core() { make_sanitized core-tests && sh test/cmocka.sh build/sanitize; }
sanitized_sql() {
  make_sanitized && sanitized tclsh test/sqllogictest.tcl --load build/sanitize/bloom test/sql
}
sanitizers_work() {
  mkdir -p build/sanitize &&
    echo 'int main(void){ return 0; }' | ${CC:-cc} $sanitizers -x c - -o build/sanitize/probe 2>/dev/null &&
    build/sanitize/probe
}

suite 'core: hashes, filters, golden files, live LevelDB'  core
grep -q leveldb_oracle_test build/release/test/core/programs ||
  leave_out 'live LevelDB' 'LevelDB is not installed; its golden answers are compared, not its live ones'
suite 'core builds and links without SQLite'               sh test/core/no_sqlite.sh
suite 'sqllogictest runner'                                runner
suite 'SQL'                                                tclsh test/sqllogictest.tcl --load ./bloom test/sql
suite 'query plans'                                        tclsh test/plans.tcl ./bloom
suite 'ready-made SQL'                                     tclsh test/ready_made.tcl ./bloom
suite 'out of memory'                                      sh test/oom/run.sh
suite 'limits and interruption'                            sh test/limits/run.sh
suite 'threads'                                            sh test/threads/run.sh
suite 'library: symbols, compilers, linking, installing'   sh test/library.sh
suite 'README'                                             tclsh test/readme.tcl
suite 'examples: shell, C, Python'                          sh examples/test.sh
suite 'examples: packages'                                 sh examples/packages/test.sh
if sanitizers_work; then
  suite 'core, with sanitizers'                            sanitized_core
  suite 'SQL, with sanitizers'                             sanitized_sql
  suite 'corrupt input, with sanitizers'                   sh test/corrupt/run.sh
  suite 'fuzzing: the kept inputs, with sanitizers'        sh test/fuzz/replay.sh
else
  suite 'corrupt input'                                    sh test/corrupt/run.sh ''
  suite 'fuzzing: the kept inputs'                         sh test/fuzz/replay.sh ''
  leave_out 'sanitizers' "${CC:-cc} has no sanitizers here"
fi

echo "== all suites"
total
