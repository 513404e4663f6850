#!/bin/sh
# Everything that test/RELIABILITY.md promises: sh test/check_all.sh, at the top of the
# checkout.  Installs what is missing, runs the quick suites and the long checks, and
# prints one table (what, result, time, how much).  `make check-all` comes here; a new
# check is one line below.
cd "$(dirname "$0")/.." || exit 1
export WERROR=1 REQUIRE_ALL=1 # as in CI: warnings are errors, and so is what cannot run
sh test/install_packages.sh build demo test check || exit 1
make -j "$(getconf _NPROCESSORS_ONLN)" || exit 1
. test/suite.sh

suite 'make test'                                          sh test/suites.sh
suite 'static analysis'                                    sh test/static_analysis.sh
suite 'coverage'                                           sh test/coverage.sh
suite 'mutation: a sample of the small changes to ext'      "$PYTHON" test/mutate.py --limit 100 --minutes 2
suite 'fuzzing'                                            sh test/fuzz/run.sh
suite 'out of memory, all statements and encodings'        sh test/oom/run.sh --long
suite 'out of memory, with sanitizers'                     sh test/oom/run.sh --sanitize
suite 'limits and interruption, newest SQLite'             sh test/limits/run.sh 3.54.1
suite 'every SQLite: 3.31.1 to 3.54.1, and 3.9.1'          sh test/versions.sh
suite 'Node: better-sqlite3'                                sh examples/node/test.sh
suite 'big-endian: s390x'                                  sh test/machines.sh s390x
suite '64-bit Arm: aarch64, NEON'                          sh test/machines.sh aarch64
suite '32-bit: i686'                                       sh test/machines.sh i686
suite 'Windows: the DLL under wine'                        sh test/machines.sh windows
suite 'gcc and clang, -O0 and -O3, with and without SIMD'  sh test/machines.sh builds
suite 'threads, SQLite itself under ThreadSanitizer too'   sh test/threads/run.sh 3.54.1
suite 'filters past 2^32 bits, beside LevelDB'             sh test/limits/run.sh --big

table
total
