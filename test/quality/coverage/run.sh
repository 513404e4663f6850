#!/bin/sh
# Line and branch coverage of ext/ by gcov: sh test/quality/coverage/run.sh, at the top of the
# checkout (`make coverage`).  Builds without optimisation into build/coverage, runs the
# core's tests, the SQL tests, those of failing allocations, loading, limits and handles, and
# the quick ones of the virtual tables and of bloom_index; and prints a table.
#
# Names every branch that is not taken, and fails where there are more than there may be
# (untaken.tsv: none in the core).  Branches are counted as gcc 12 sees them; another compiler
# may see others.  Code for other processors is left out by name.
# Ends with `N passed, N failed`.
. test/lib/shared.sh
find_python
# What draws at random draws the same each time.
export BLOOM_TEST_SEED=5
build=build/coverage
mkdir -p $build

run() {
  "$@" >$build/log 2>&1 </dev/null && return
  cat $build/log
  echo "These tests failed: what they cover says little: $*"
  echo '0 passed, 1 failed'
  exit 1
}

make_covered() {
  make -j "$jobs" BUILD=$build EXTENSION=$build/bloom.so CC="${CC:-gcc}" \
    OPT='-O0 -g --coverage' SANITIZE='--coverage -Wl,-u,__gcov_dump' "$@"
}

# with_python EXTENSION TEST ...: a test whose children are counted, too (python/sitecustomize.py).
# What SIGKILL ends is not, so those that kill are left out.
with_python() {
  library=$1 script=$2
  shift 2
  run env PYTHONPATH="$PWD/test/quality/coverage/python" BLOOM_COVERED="$PWD/$library" \
    "$PYTHON" "test/$script" --load "$PWD/$library" "$@"
}

find $build -name '*.gcda' -exec rm {} +
run make_covered core-tests all
# A tenth of the random rounds take the same branches, but for the search of sizes and for
# filters over 2^32 bits.
BLOOM_TEST_SHARE=10 run sh test/core/run.sh $build
run $build/test/core/leveldb_sizing_test
run $build/test/core/leveldb_facts_test
run tclsh test/sql/runner/sqllogictest.tcl --load $build/bloom test/sql/records
run make_covered $build/test/faults/oom/oom $build/test/vtab/faults $build/test/faults/load/load $build/test/faults/limits/limits
run $build/test/faults/oom/oom $build/bloom.so test/faults/oom/statements.sql
for each in table index; do
  run $build/test/faults/oom/oom --some $build/bloom.so test/faults/oom/${each}_statements.sql
done
run $build/test/faults/load/load $build/bloom.so
run $build/test/faults/limits/limits $build/bloom.so
# They run with tiny limits, too, with which few keys do what else takes many.
run make_covered BUILD=$build/tiny EXTENSION=$build/tiny/bloom.so CPPFLAGS="$tiny_limits" $build/tiny/bloom.so
for extension in $build/bloom.so $build/tiny/bloom.so; do
  run $build/test/vtab/faults --seed 5 --most 25 "$extension" test/vtab/faults.sql
  with_python "$extension" vtab/model.py --statements 30000 --seed 5
  with_python "$extension" vtab/damage.py --runs 300 --seed 5
  with_python "$extension" vtab/not_in_the_way.py --only every_change
done
run $build/test/vtab/faults --seed 5 --most 12 $build/bloom.so test/index/faults.sql
for each in vtab/certain vtab/tuples vtab/running vtab/hostile_files vtab/not_in_the_way source/migrations; do
  with_python $build/bloom.so $each.py --slow
done
run $build/test/vtab/faults --seed 5 --most 20 $build/tiny/bloom.so test/index/faults.sql
for each in source/identity index/writers index/damage index/schemas index/shapes index/steps index/zones \
    index/regexp_functions; do
  with_python $build/tiny/bloom.so $each.py --slow
done
with_python $build/tiny/bloom.so index/model.py --runs 18 --seed 5
with_python $build/tiny/bloom.so index/ranges.py --runs 36 --seed 5
with_python $build/tiny/bloom.so index/hostile.py --runs 60 --seed 5
# Virtual tables of bloom 1.1.
with_python $build/bloom.so docs/limits.py --only 1_1_0
with_python $build/bloom.so index/model.py --runs 18 --seed 5
with_python $build/bloom.so index/real_data.py --seed 5
run make_covered BUILD=$build/linked CPPFLAGS=-DSQLITE_CORE $build/linked/test/faults/handles/handles
run $build/linked/test/faults/handles/handles $build/bloom.so

# Kernels of which this machine does not run all, as their test says.
skipped=$($build/test/core/leveldb_kernels_test 2>&1 | sed -n 's/.*not run here: .*/kernels.c/p' | sort -u)
# shellcheck disable=SC2086,SC2116 # a list of names
echo "note: gcc $(${CC:-gcc} -dumpfullversion)${skipped:+, without $(echo $skipped) (not of this machine)}"
# shellcheck disable=SC2086
"$PYTHON" test/quality/coverage/count.py $build $skipped
