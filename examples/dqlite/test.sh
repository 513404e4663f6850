#!/bin/sh
# A cluster of dqlite nodes with bloom in them, which are killed again and again:
# sh examples/dqlite/test.sh [ROUNDS], from any directory, after `make`.
#
# Installs what is missing.  Builds node.c, join.go and kills.go, runs kills.go, and then what
# README.md shows.  Ends with `N passed, N failed`.
cd "$(dirname "$0")/../.." || exit 1
. test/lib/shared.sh
sh test/lib/install_packages.sh build demo test cluster || exit 1
work=build/dqlite
mkdir -p $work || exit 1
export GO111MODULE=off GOPATH=/usr/share/gocode

build_node() {
  make -s amalgamation &&
  ${CC:-cc} -O3 -Wall -Wextra -Wpedantic -Werror -DSQLITE_CORE -Ibuild/amalgamation -o $work/node \
    examples/dqlite/node.c build/amalgamation/bloom.c -ldqlite -lsqlite3
}
build_go() { go vet "examples/dqlite/$1.go" && go build -o "$work/$1" "examples/dqlite/$1.go"; }
refuses_to_start() {
  $work/node 2>&1 | grep '^usage: ' && ! $work/node 1 nowhere $work/nowhere
}

check 'node.c is built without a warning' build_node
check 'node.c says why it does not start' refuses_to_start
check 'join.go is built' build_go join
check 'kills.go is built' build_go kills
suite 'nodes are killed' $work/kills $work/node $work/nodes "${1:-30}"
suite 'what README.md shows' tclsh test/docs/readme.tcl examples/dqlite/README.md
finish
