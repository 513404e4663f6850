#!/bin/sh
# Limits and interruption: sh test/faults/limits/run.sh [VERSION | --big], at the top of the checkout.  limits.c says
# what is tested.  With VERSION everything is compiled with that SQLite's headers and runs on it
# (test/lib/build_sqlite.sh): an interrupt is noticed in another way from 3.41 on.  --big: big_filters.cc instead.
# Ends with `N passed, N failed`.
. test/lib/shared.sh
if [ $# = 0 ]; then
  make -j "$jobs" bloom.so build/release/test/faults/limits/limits || exit
  exec build/release/test/faults/limits/limits ./bloom.so
fi
if [ "$1" = --big ]; then
  make -j "$jobs" bloom.so build/release/test/faults/limits/big_filters || exit
  exec build/release/test/faults/limits/big_filters ./bloom.so
fi
sh test/lib/build_sqlite.sh "$1" || exit
sqlite=build/sqlite/$1
build=build/sqlite-$1
make -j "$jobs" BUILD="$build" EXTENSION="$build/bloom.so" CPPFLAGS="-I$sqlite" \
  "$build/bloom.so" "$build/test/faults/limits/limits" || exit
# The path of the checkout may hold spaces: LD_PRELOAD would be parted at them.
exec env LD_LIBRARY_PATH="$sqlite" "$build/test/faults/limits/limits" "$build/bloom.so" "$1"
