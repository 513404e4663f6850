#!/bin/sh
# Real LevelDB files, read and written by bloom: sh test/interop/leveldb_files/run.sh [--long], at
# the top of the checkout, after `make`.  leveldb_files.cc says what is tested.
#
#   --long   databases of a million keys, too, and those of npm's classic-level, a prebuilt
#            LevelDB; needs npm
#
# Ends with `N passed, N failed`.
cd "$(dirname "$0")/../../.." || exit 1
. test/lib/shared.sh
work=build/leveldb_files
program=build/release/test/interop/leveldb_files/leveldb_files
rm -rf $work/databases
mkdir -p $work/databases || exit 1
make -s -j "$jobs" $program || { echo '0 passed, 1 failed'; exit 1; }

# library NUM_KEYS: databases and tables by the LevelDB that is installed.
library() {
  check "LevelDB writes $1 keys" $program write $work/databases/"$1" "$1"
  adds_up "LevelDB, $1 keys" $program check ./bloom $work/databases/"$1"
  grep '^note: ' $work/log
}

# classic_level NUM_KEYS: databases by npm's.
classic_level() {
  check "classic-level writes $1 keys" env NODE_PATH=$work/node_modules \
    node test/interop/leveldb_files/write_classic_level.js $work/databases/classic-level-"$1" "$1"
  adds_up "classic-level, $1 keys" $program check ./bloom $work/databases/classic-level-"$1"
  grep '^note: ' $work/log
}

library 10000
if [ "${1-}" = --long ]; then
  library 1000000
  [ -d $work/node_modules/classic-level ] ||
    check 'npm installs classic-level' npm install --prefix $work --no-audit --no-fund classic-level@3.0.0
  classic_level 10000
  classic_level 1000000
fi
rm -rf $work/databases
finish
