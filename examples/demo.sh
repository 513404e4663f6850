#!/bin/sh
# Sets everything up and shows filters pruning a real join: sh examples/demo.sh, from
# any directory.
#
# Installs what is missing (test/lib/install_packages.sh; nothing on the second run) and
# does what `make demo` does.
set -eu
cd "$(dirname "$0")/.."
sh test/lib/install_packages.sh build demo
exec make -s -j "$(getconf _NPROCESSORS_ONLN)" demo
