#!/bin/sh
# A table and its bloom_index, side by side: sh test/index/run.sh [--long | --longest | --newest]
#
# model.py changes tables at random and asks both the same, ranges.py for ranges; growth.py grows tables by ids of
# every shape; real_data.py searches kept texts; regexps.py asks those who match regular expressions whether a text
# has what is required, and regexp_functions.py has functions that are to be trusted, or not; hostile.py writes
# anything into the index's tables; ../source/processes.py, in the long run, ends processes that merge; ../source/identity.py puts other
# files under statements that are held, for filters too; commands.py has CREATE and merges; writers.py and damage.py have a case for each thing that fell
# once, kept.py files of bloom 1.2; schemas.py changes the source's schema; steps.py counts how much is read, and
# zones.py looks at where ranges are, orders.py at rows in a column's order; beside.py compares that with the table's own
# indexes; reader.py reads the tables as another program does; faults.sql is for
# ../vtab/faults.c, which fails memory, disk and what else there is.
#
# Of many cases of one kind the quick run has some (--sample), and of the slow ones none.
#
#   --long     50,000 queries and 1,000 patterns, large tables, slow cases, and hostile tables under sanitizers
#   --longest  four times as many
#   --newest   as many as that by SQLite 3.54.1, and ICU's like()
cd "$(dirname "$0")/../.." || exit 1
. test/lib/shared.sh
work=build/index
mkdir -p $work || exit 1
find_python
case ${1-} in
  '')        runs=4 ranges=6 beside=100 hostile=15 most=1 long= sample=--sample ;;
  --long)    runs=250 ranges=125 beside='2000 --rows 20000' hostile=500 seconds=15 most=15 patterns=1000 big=10 long=--slow sample= ;;
  --longest | --newest)
             runs=1000 ranges=500 beside='5000 --rows 20000' hostile=2000 seconds=30 most=60 patterns=4000 big=30 long=--slow sample= ;;
  *)      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
# The quick ones are always the same; --long draws others.
if [ -n "$long" ]; then drawn=$(date +%s); else drawn=5; fi
seed=${BLOOM_TEST_SEED:-$drawn}
echo "note: seed $seed; BLOOM_TEST_SEED=$seed draws the same"

make -s -j "$jobs" bloom.so build/release/test/vtab/faults || exit 1
cases='source/identity index/commands index/writers index/kept index/growth index/damage index/schemas index/shapes index/steps index/zones index/orders index/self_writes index/reader index/regexp_functions'
small=build/tiny/bloom
make_tiny || exit 1
# A random test, and its notes.
random() {
  title=$1
  shift
  adds_up "$title" "$@" --seed "$seed"
  sed -n "s/^note: /note: $title: /p" $work/log
}
# SQLite's ICU extension, which its amalgamation has, as a library to load.
make_icu() {
  rm -f $work/icu.so
  sed -n '/ Begin file icu.c /,/ End of icu.c /p' build/sqlite/3.54.1/sqlite3.c >$work/icu.c
  ${CC:-cc} -w -O1 -fPIC -shared -Ibuild/sqlite/3.54.1 -include assert.h -include sqlite3ext.h -DSQLITE_API= -DSQLITE_PRIVATE=static \
    $work/icu.c -o $work/icu.so -licui18n -licuuc 2>$work/icu.log
}
if [ "${1-}" = --newest ]; then
  check 'SQLite 3.54.1' sh test/lib/build_sqlite.sh 3.54.1
  if make_icu; then
    random 'real data, ICU, SQLite of the system' "$PYTHON" test/index/real_data.py --icu $work/icu --patterns 2000 --mb 3
  else
    leave_out "ICU's like()" 'libicu-dev is not installed'
  fi
  export LD_LIBRARY_PATH="$PWD/build/sqlite/3.54.1"
  [ ! -e $work/icu.so ] || random 'real data, ICU' "$PYTHON" test/index/real_data.py --icu $work/icu --patterns 2000 --mb 3
fi
echo "note: SQLite $("$PYTHON" -c 'import sqlite3; print(sqlite3.sqlite_version)')"
random 'model' "$PYTHON" test/index/model.py --runs $runs
random 'model, small blocks' "$PYTHON" test/index/model.py --load $small --runs $runs
random 'ranges' "$PYTHON" test/index/ranges.py --load $small --runs $ranges
# shellcheck disable=SC2086 # several arguments
random "beside the table's own indexes" "$PYTHON" test/index/beside.py --queries $beside
[ -z "$long" ] || random 'real data' "$PYTHON" test/index/real_data.py --patterns $patterns --mb 9
for each in $cases; do
  adds_up $each "$PYTHON" test/$each.py --load $small ${long:-$sample}
done
adds_up 'steps, blocks as in use' "$PYTHON" test/index/steps.py --only few_blocks
[ -z "$long" ] || adds_up 'reader, pages of 4 KB' "$PYTHON" test/index/reader.py
[ "${1-}" != --newest ] || finish

random 'regular expressions' "$PYTHON" test/index/regexps.py ${long:+--long --patterns 30000}
adds_up 'hostile tables' "$PYTHON" test/index/hostile.py --load $small --runs $hostile --seed "$seed"
adds_up faults build/release/test/vtab/faults --seed "$seed" --most $most ./bloom.so test/index/faults.sql
[ -n "$long" ] || finish

check 'processes' "$PYTHON" test/source/processes.py --load $small --seconds $seconds --seed "$seed"
random 'model, large tables' "$PYTHON" test/index/model.py --load $small --big --runs $big --steps 12
if find_sanitizers; then
  check 'sanitized build' make_sanitized
  adds_up 'hostile tables, with sanitizers' sanitized env ASAN_OPTIONS=detect_leaks=0 "$PYTHON" test/index/hostile.py \
    --load build/sanitize/bloom --runs $((hostile / 4)) --seed "$seed"
  adds_up 'model, with sanitizers' sanitized env ASAN_OPTIONS=detect_leaks=0 "$PYTHON" test/index/model.py \
    --load build/sanitize/bloom --runs 30 --seed "$seed"
fi
finish
