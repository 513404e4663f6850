#!/bin/sh
# Filters that keep themselves true, changed in every way and at random: sh test/vtab/run.sh [--long]
#
# changes.tcl makes every change to a table; model.py drives databases through statements,
# savepoints, changes of the schema, full disks and interrupts; faults.c has memory, disk,
# authorization and other connections fail amid statements; processes.py has several
# processes write and be killed; schemas.py has others change the schema; damage.py writes to
# the shadow tables.  histories.py plays random histories beside a twin without filters, and the
# others are what fell once, a case each.  All but changes.tcl and damage.py run a build with tiny limits, in which what
# takes many keys happens with few, and the one that users get.  --long: for minutes.
cd "$(dirname "$0")/../.." || exit 1
. test/lib/shared.sh
work=build/table
mkdir -p $work || exit 1
find_python
case ${1-} in
  '')     runs=25 seconds=2 most=4 histories='--seed 5 --statements 3000' # always the same ones: check_all.sh draws others
              cases='identity rows raise_ignore uncertain tuples running hostile_files' ;;
  --long) runs=1500 seconds=40 most=40 histories="--seed ${BLOOM_TEST_SEED:-$(date +%s)} --statements 300000"
              cases='identity rows raise_ignore uncertain tuples running hostile_files copies migrations not_in_the_way decimals' ;;
  *)      sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
# The quick ones are always the same; --long draws others.
if [ "${1-}" = --long ]; then drawn=$(date +%s); else drawn=5; fi
seed=${BLOOM_TEST_SEED:-$drawn}
echo "note: seed $seed; BLOOM_TEST_SEED=$seed draws the same"

make -s -j "$jobs" bloom.so build/release/test/vtab/faults && make -s -j "$jobs" BUILD=build/tiny EXTENSION=build/tiny/bloom.so CPPFLAGS=-DBLOOM_TINY_TABLES || exit 1
adds_up 'changes' tclsh test/vtab/changes.tcl ./bloom
for extension in ./build/tiny/bloom.so ./bloom.so; do
  adds_up "model, $extension" "$PYTHON" test/vtab/model.py --load $extension --runs $runs --seed "$seed"
  adds_up "faults, $extension" build/release/test/vtab/faults --seed "$seed" --most $most $extension test/vtab/faults.sql
  sed -n 's/^note: /note: faults: /p' $work/log
  adds_up "schemas, $extension" "$PYTHON" test/vtab/schemas.py --load $extension
  check "processes, $extension" "$PYTHON" test/vtab/processes.py --load "$PWD/$extension" --seconds $seconds
  sed -n 's/^note: /note: processes: /p' $work/log
done
for each in $cases; do
  adds_up "$each" "$PYTHON" test/vtab/$each.py --load ./bloom.so
done
adds_up 'histories' "$PYTHON" test/vtab/histories.py --load ./bloom.so $histories
adds_up 'damage' "$PYTHON" test/vtab/damage.py --runs $((5 * runs)) --seed "$seed"
finish
