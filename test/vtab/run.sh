#!/bin/sh
# Filters that stay up to date, changed in every way and at random: sh test/vtab/run.sh [--long | --longest]
#
# model.py plays random worlds; not_in_the_way.py makes every change to a table beside one without a filter; faults.c has
# memory, disk, authorization and other connections fail; ../source/processes.py, in the long run, has processes write
# in several languages and be killed; ../source/replays.py has tools copy rows from one file to another; damage.py
# writes to shadow tables; the others are cases.  What ../source has is asked of filters and of an index over one table;
# ../index/run.sh runs the rest of it.
# model.py and faults.c also run a build with tiny limits and assert().  --long: for minutes,
# all cases of many of one kind, of which the quick run has some (--sample), and slow ones; --longest: four times as long.
cd "$(dirname "$0")/../.." || exit 1
. test/lib/shared.sh
work=build/table
mkdir -p $work || exit 1
find_python
case ${1-} in
  '')        statements=8000 most=1 runs=60 worlds=25 long= sample=--sample ;;
  --long)    statements=125000 seconds=10 most=10 runs=1250 worlds=1000 long=--slow sample= ;;
  --longest) statements=500000 seconds=40 most=40 runs=5000 worlds=4000 long=--slow sample= ;;
  *)      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
cases='vtab/not_in_the_way vtab/certain vtab/healing vtab/journal vtab/tuples vtab/running source/migrations source/others_objects source/datasette source/half_copies source/schema_changes'
[ -z "$long" ] || cases="$cases source/copies source/orms vtab/hostile_files"
# The quick ones are always the same; others draw others.
if [ -n "$long" ]; then drawn=$(date +%s); else drawn=5; fi
seed=${BLOOM_TEST_SEED:-$drawn}
echo "note: seed $seed; BLOOM_TEST_SEED=$seed draws the same"

make -s -j "$jobs" bloom.so build/release/test/vtab/faults && make_tiny || exit 1
for extension in ./build/tiny/bloom.so ./bloom.so; do
  adds_up "model, $extension" "$PYTHON" test/vtab/model.py --load $extension --statements $statements --seed "$seed"
  sed -n 's/^note: \(.*worlds\)/note: model: \1/p' $work/log
  # What fails in large tables fails in tiny ones.
  [ "$extension$long" != ./bloom.so ] || continue
  adds_up "faults, $extension" build/release/test/vtab/faults --seed "$seed" --most $most $extension test/vtab/faults.sql
  sed -n 's/^note: /note: faults: /p' $work/log
done
for each in $cases; do
  adds_up "$each" "$PYTHON" test/$each.py --load ./bloom.so ${long:-$sample}
done
if [ -n "$long" ]; then
  check 'processes' "$PYTHON" test/source/processes.py --load "$PWD/bloom.so" --seconds $seconds
  sed -n 's/^note: /note: processes: /p' $work/log
else
  for each in dumped copied; do
    adds_up "source/copies, $each" "$PYTHON" test/source/copies.py --load ./bloom.so --only $each
  done
fi
adds_up 'replays' "$PYTHON" test/source/replays.py --load ./bloom.so --worlds $worlds --seed "$seed"
adds_up 'damage' "$PYTHON" test/vtab/damage.py --runs $runs --seed "$seed"
finish
