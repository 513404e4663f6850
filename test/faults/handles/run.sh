#!/bin/sh
# Copies of handles that an application keeps, with sanitizers where there are any:
# sh test/faults/handles/run.sh [VERSION ...], at the top of the checkout; on other SQLite too
# (test/lib/build_sqlite.sh).  handles.c says what is tested.  Ends with `N passed, N failed`.
. test/lib/shared.sh
work=build/handles
mkdir -p $work || exit 1
other=./bloom.so
if find_sanitizers; then other=build/sanitize/bloom.so; make_sanitized >$work/log 2>&1 || { cat $work/log; exit 1; }; fi
make_linked $linked/test/faults/handles/handles || exit 1
sh test/lib/build_sqlite.sh "$@" >$work/log 2>&1 || { cat $work/log; exit 1; }
adds_up 'the SQLite that is installed' $linked/test/faults/handles/handles $other
for version; do
  adds_up "SQLite $version" env LD_LIBRARY_PATH="$PWD/build/sqlite/$version" $linked/test/faults/handles/handles $other "$version"
done
finish
