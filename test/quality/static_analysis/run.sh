#!/bin/sh
# Static analysis of the extension and of the core's tests, at the top of the checkout:
# sh test/quality/static_analysis/run.sh (`make analyze`).
#
#   clang-tidy     .clang-tidy, test/core/.clang-tidy: what is on, and why the rest is off
#   cppcheck       test/quality/static_analysis/cppcheck.suppressions, likewise
#   gcc -fanalyzer warnings as errors, at the release's level of optimisation
#
# One check for each tool and file, and one for each tool that it finds a planted bug.
# Ends with `N passed, N failed`.
. test/lib/shared.sh
work=build/static_analysis
rm -rf $work && mkdir -p $work || exit 1

finds_nothing() { ! "$@"; }

# clang-tidy and gcc see the asserts, which say what a value can be.
tidy() { clang-tidy --quiet "$@" -- -std=c11 -DBLOOM_DEBUG; }
# Both ways of linking are read: cppcheck tries what the #ifs can be.  It takes an assert for a
# condition that may be false, and so does not see them.
cppchecked() {
  cppcheck -q --std=c11 --force '-Dassert(x)=' --library=sqlite3 --enable=warning,style,performance,portability --inconclusive \
    --suppressions-list=test/quality/static_analysis/cppcheck.suppressions --error-exitcode=1 "$@"
}
analyzed() { gcc -std=c11 -O2 -DBLOOM_DEBUG -Wall -Wextra -fanalyzer -Werror -c -o $work/object.o "$@"; }

# A null dereference on one path, and for cppcheck, which follows fewer, one on all.
cat >$work/planted.c <<'END'
#include <stddef.h>
int planted(const int *p);
int planted(const int *p){
  int sum = p ? *p : 0;
  if( sum==0 ) sum += *p;
  return sum;
}
int planted2(void);
int planted2(void){
  int table[4] = {1, 2, 3, 4};
  int *p = NULL;
  if( table[0] ) return *p;
  return table[1];
}
END
sources="ext/bloom.c $(echo ext/core/*.c ext/core/*/*.c ext/sqlite/*.c ext/sqlite/*/*.c)
$(ls test/core/*.c | grep -v entries_small_test)" # which is entries.c and entries_test.c, of other sizes

check 'clang-tidy sees a planted bug'     finds_nothing tidy --config-file=.clang-tidy $work/planted.c
check 'cppcheck sees a planted bug'       finds_nothing cppchecked $work/planted.c
check 'gcc -fanalyzer sees a planted bug' finds_nothing analyzed $work/planted.c
for source in $sources; do
  check "clang-tidy $source" tidy "$source"
  check "gcc -fanalyzer $source" analyzed "$source"
  check "cppcheck $source" cppchecked "$source"
done
# Linked statically, functions are called directly and not through a table.
for source in ext/bloom.c ext/sqlite/*.c ext/sqlite/*/*.c; do
  check "gcc -fanalyzer -DSQLITE_CORE $source" analyzed -DSQLITE_CORE "$source"
done

# shellcheck disable=SC2086 # a list of names
echo "note: $(cat $sources ext/*/*.h ext/*/*/*.h | wc -l) lines by $(clang-tidy --version | sed -n 's/.*LLVM version /clang-tidy /p'), $(
  cppcheck --version | tr 'C' 'c'), gcc $(gcc -dumpfullversion) -fanalyzer"
finish
