#!/bin/sh
# Everything that test/RELIABILITY.md promises: sh test/check_all.sh, at the top of the
# checkout.  Installs what is missing, runs the quick suites and the long checks, and
# prints one table (what, result, time, how much).  `make check-all` comes here; a new
# check is one line below.
cd "$(dirname "$0")/.." || exit 1
sh test/install_packages.sh build demo test check || exit 1
make -j "$(getconf _NPROCESSORS_ONLN)" || exit 1
. test/suite.sh

suite 'make test'                                          sh test/suites.sh
suite 'static analysis'                                    sh test/static_analysis.sh
suite 'fuzzing'                                            sh test/fuzz/run.sh
suite 'out of memory, all statements and encodings'        sh test/oom/run.sh --long
suite 'out of memory, with sanitizers'                     sh test/oom/run.sh --sanitize
suite 'limits and interruption, newest SQLite'             sh test/limits/run.sh 3.54.1

table
total
