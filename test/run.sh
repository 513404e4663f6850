#!/bin/sh
# Sets everything up and runs all tests: sh test/run.sh, from any directory.
#
# Installs what is missing (install_packages.sh; nothing on the second run), builds,
# and does what `make test` does.  The last line is `N passed, N failed`.
set -eu
cd "$(dirname "$0")/.."
sh test/install_packages.sh build demo test
make -s -j "$(getconf _NPROCESSORS_ONLN)"
# Not through make: when a test fails, the sum would not stay the last line.
exec sh test/suites.sh
