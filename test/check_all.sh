#!/bin/sh
# Everything that test/RELIABILITY.md promises: sh test/check_all.sh (`make check-all`),
# from any directory.  Installs what is missing, runs the quick suites and the long checks,
# and prints one table (what, result, time, how much); a new check is one line below.
cd "$(dirname "$0")/.." || exit 1
. test/shared.sh
export WERROR=1 REQUIRE_ALL=1 # as in CI: warnings are errors, and so is what cannot run
sh test/install_packages.sh build demo test check && make -j "$jobs" || exit 1
work=build/check_all
mkdir -p $work || exit 1
find_python

suite 'make test'                                          sh test/run.sh --made
suite 'static analysis'                                    sh test/static_analysis/run.sh
suite 'coverage'                                           sh test/coverage/run.sh
suite 'mutation: a sample of the small changes to ext'     "$PYTHON" test/mutation/mutate.py --limit 100 --minutes 2
suite 'fuzzing'                                            sh test/fuzz/run.sh
suite 'out of memory, all statements and encodings'        sh test/oom/run.sh --long
suite 'out of memory, with sanitizers'                     sh test/oom/run.sh --sanitize
suite 'limits and interruption, newest SQLite'             sh test/limits/run.sh 3.54.1
suite 'every SQLite: 3.31.1 to 3.54.1, and 3.9.1'          sh test/every_sqlite.sh
suite 'Node: better-sqlite3'                               sh examples/node/test.sh
suite 'big-endian: s390x'                                  sh test/machines/run.sh s390x
suite '64-bit Arm: aarch64, NEON'                          sh test/machines/run.sh aarch64
suite '32-bit: i686'                                       sh test/machines/run.sh i686
suite 'Windows: the DLL under wine'                        sh test/machines/run.sh windows
suite 'gcc and clang, -O0 and -O3, with and without SIMD'  sh test/machines/run.sh builds
suite 'threads, SQLite itself under ThreadSanitizer too'   sh test/threads/run.sh 3.54.1
suite 'filters past 2^32 bits, beside LevelDB'             sh test/limits/run.sh --big

table
finish
