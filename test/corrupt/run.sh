#!/bin/sh
# Runs every case of corrupt input: sh test/corrupt/run.sh [SANITIZER-FLAGS], at the top
# of the checkout.  Ends with `N passed, N failed`.
set -u
cd "$(dirname "$0")/../.." || exit 1
unset MAKEFLAGS MAKELEVEL
. test/sanitizers.sh
build=build/replay # shared with the fuzz targets: the same flags
"${PYTHON:-/usr/bin/python3}" test/corrupt/make_cases.py --check || { echo '0 passed, 1 failed'; exit 1; }
make -s -j "$(getconf _NPROCESSORS_ONLN)" BUILD=$build OPT='-O1 -g' CPPFLAGS=-DSQLITE_CORE \
  SANITIZE="${1-$sanitizers}" corrupt-test >/dev/null ||
  { echo '0 passed, 1 failed'; exit 1; }
exec $build/test/corrupt/corrupt_test test/corrupt/*.tsv
