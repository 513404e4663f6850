#!/bin/sh
# Many threads under ThreadSanitizer: sh test/faults/threads/run.sh [VERSION], at the top of the
# checkout.  threads.c and shared_cache.c say what is tested.  Without VERSION the system's SQLite is linked,
# in which ThreadSanitizer sees the locks but not the memory; with VERSION that SQLite is
# compiled with ThreadSanitizer too (test/lib/build_sqlite.sh).  Ends with `N passed, N failed`.
. test/lib/shared.sh
work=build/threads${1:+-$1}
mkdir -p "$work"

sanitizer=-fsanitize=thread
if ! echo 'int main(void){ return 0; }' | ${CC:-cc} $sanitizer -x c - -o "$work/probe" 2>"$work/log" ||
   ! "$work/probe" 2>>"$work/log"; then
  echo "note: ${CC:-cc} has no ThreadSanitizer here: run without it"
  [ -z "${REQUIRE_ALL-}" ] || exit 1
  sanitizer=
fi
if [ $# = 0 ]; then
  include= sqlite=-lsqlite3
  size='8 1'
else
  include=-Ibuild/sqlite/$1 sqlite="$work/sqlite3.o -ldl"
  size='16 4'
  sh test/lib/build_sqlite.sh "$1" &&
    ${CC:-cc} -w -O1 -g $sanitizer -c "build/sqlite/$1/sqlite3.c" -o "$work/sqlite3.o" || exit
fi
make -j "$jobs" BUILD="$work" OPT='-O1 -g' SANITIZE=$sanitizer CPPFLAGS="-DSQLITE_CORE $include" \
  SQLITE_LIBS="$sqlite" "$work/test/faults/threads/threads" "$work/test/faults/threads/shared_cache" || exit

for mode in serialized multi-thread; do
  rm -f "$work/threads.db"
  # A race ends the program with an error.
  # shellcheck disable=SC2086 # threads and rounds
  adds_up "$mode" "$work/test/faults/threads/threads" $mode "$work/threads.db" $size
  grep '^note: ' "$work/log"
done
rm -f "$work"/*.db*
for database in 'file:threads?mode=memory' "$work/shared_cache.db"; do
  adds_up "a shared cache, $database" "$work/test/faults/threads/shared_cache" 1 "$database"
  grep '^note: ' "$work/log"
done
rm -f "$work"/*.db*
finish
