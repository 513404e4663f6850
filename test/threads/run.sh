#!/bin/sh
# Many threads under ThreadSanitizer: sh test/threads/run.sh [VERSION], at the top of the
# checkout.  threads.c says what is tested.  Without VERSION the system's SQLite is linked,
# in which ThreadSanitizer sees the locks but not the memory; with VERSION that SQLite is
# compiled with ThreadSanitizer too (test/sqlite_versions.sh).  Ends with `N passed, N failed`.
set -u
build=build/threads
mkdir -p $build
flags='-std=gnu11 -O1 -g -fsanitize=thread -DSQLITE_CORE'
if ! echo 'int main(void){ return 0; }' | ${CC:-cc} -fsanitize=thread -x c - -o $build/probe 2>$build/log ||
   ! $build/probe 2>>$build/log; then
  echo "note: ${CC:-cc} has no ThreadSanitizer here: run without it"
  flags='-std=gnu11 -O1 -g -DSQLITE_CORE'
fi
if [ $# = 0 ]; then
  sqlite=-lsqlite3
  program=$build/threads
  size='8 1'
else
  sh test/sqlite_versions.sh "$1" || exit
  sqlite="-Ibuild/sqlite/$1 build/sqlite/$1/sqlite3.c -lm -ldl"
  program=$build/threads-$1
  size='16 4'
fi
# shellcheck disable=SC2086 # lists of words
${CC:-cc} $flags -o $program test/threads/threads.c ext/bloom.c ext/sqlite/*.c ext/core/*.c $sqlite -lpthread || exit

passed=0
failed=0
for mode in serialized multi-thread; do
  rm -f $build/threads.db
  # shellcheck disable=SC2086 # threads and rounds
  $program $mode $build/threads.db $size >$build/log 2>&1
  status=$?
  count=$(tail -n 1 $build/log)
  num_passed=$(expr "$count" : '\([0-9][0-9]*\) passed, [0-9][0-9]* failed$')
  num_failed=$(expr "$count" : '[0-9][0-9]* passed, \([0-9][0-9]*\) failed$')
  sed '$d' $build/log
  # A race, or an early end.
  [ -n "$num_failed" ] && [ $((status != 0 && num_failed == 0)) = 0 ] || num_failed=$((${num_failed:-0} + 1))
  passed=$((passed + ${num_passed:-0}))
  failed=$((failed + num_failed))
done
rm -f $build/threads.db
echo "$passed passed, $failed failed"
[ $failed = 0 ]
