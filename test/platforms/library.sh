#!/bin/sh
# Tests the extension as a thing to build, link, load and install, rather than its
# answers: sh test/platforms/library.sh [symbols], at the top of the checkout, after `make`.
# symbols: only what the library exports and needs, that it loads, and that its parts make one file.  Ends with `N passed, N failed`.
. test/lib/shared.sh
find_python
work=build/library
rm -rf $work && mkdir -p $work || exit 1

exports() { nm -D --defined-only bloom.so | awk '{ print $NF }'; }

# libc.so.6, or libc.musl-x86_64.so.1.
needed_but_libc() { readelf -d bloom.so | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^libc\.'; }

# loads LIBRARY: in the stock shell.
loads() { same "$version" "$(sqlite3 :memory: ".load $1" 'SELECT bloom_version()' 2>&1)"; }

# shell LINE ...
shell() { printf '%s\n' "$@" | sqlite3 2>&1; }

# SQLite replaces no function while a statement runs.
says_why_it_does_not_load() {
  shell '.load ./bloom' "SELECT load_extension('./bloom');" |
    grep 'bloom: unable to delete/modify user-function due to active statements'
}

# builds COMPILER: into its own folder, loadable, without one warning.
builds() {
  make -j "$jobs" CC="$1" OPT=-O0 WERROR=1 BUILD="$work/$1" EXTENSION="$work/$1/bloom.so" && loads "$work/$1/bloom"
}

cat >$work/static.c <<'END'
#include <sqlite3.h>
#include <stdio.h>
#include "bloom.h"
int main(void){
  sqlite3 *db;
  sqlite3_stmt *statement;
  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
  if( sqlite3_open(":memory:", &db)
   || sqlite3_prepare_v2(db, "SELECT bloom_version()", -1, &statement, NULL)
   || sqlite3_step(statement)!=SQLITE_ROW ) return 1;
  puts((const char *)sqlite3_column_text(statement, 0));
  sqlite3_finalize(statement);
  return sqlite3_close(db);
}
END

# A hundred names that programs have, too: what is linked with them must have others.
for subject in index key filter hash block table source cursor layout plan; do
  for verb in open close read write next free check merge find add; do
    echo "int ${subject}_$verb;"
  done
done >$work/names.c

links_objects() {
  find_sanitizers
  # shellcheck disable=SC2046,SC2086 # files, flags
  make_linked $linked/test/faults/handles/handles && ${CC:-cc} -Wall -Wextra -Werror $sanitizers -Iext $work/static.c $work/names.c $(find $linked/ext -name '*.o') \
    -lsqlite3 -o $work/static && same "$version" "$($work/static)"
}

header_is_cxx() { ${CXX:-c++} -Wall -Wextra -Werror -fsyntax-only -x c++ ext/bloom.h; }

# Only what is compiled of bloom needs -DSQLITE_CORE, not the program.
links_as_object() {
  make amalgamation && ${CC:-cc} -std=c11 -Wall -Wextra -Wshadow -Werror -DSQLITE_CORE -c build/amalgamation/bloom.c -o $work/bloom.o &&
    same sqlite3_bloom_init "$(nm $work/bloom.o | sed -n 's/.* [TDRBC] //p')" &&
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror -Ibuild/amalgamation $work/static.c $work/names.c $work/bloom.o -lsqlite3 -o $work/static &&
    same "$version" "$($work/static)"
}

# By a compiler that is told nothing.
builds_as_one_file() {
  ${CC:-cc} -fPIC -shared -Wall -Wextra -Wshadow -Werror build/amalgamation/bloom.c -o $work/bloom.so && loads $work/bloom
}

# -- Is what is there what was asked for?  By the Makefile itself, on a project that
# compiles in no time.
small=$work/small
small_project() {
  rm -rf $small
  mkdir -p $small/ext/core $small/ext/sqlite $small/test/core &&
    cp Makefile $small && cp test/test.mk $small/test && cp -R ext/packaging $small/ext && cp ext/bloom.h ext/FUNCTIONS.md $small/ext &&
    echo 'extern int bloom_one; int bloom_one = 1;' >$small/ext/core/one.c &&
    echo 'extern int bloom_two; int bloom_two = 2;' >$small/ext/core/two.c &&
    echo '__attribute__((visibility("default"))) int sqlite3_bloom_init(void); int sqlite3_bloom_init(void){ return MARK; }' >$small/ext/bloom.c &&
    echo 'extern int support; int support = 3;' >$small/test/core/support.c &&
    echo 'int main(void){ return 0; }' | tee $small/test/core/a_test.c >$small/test/core/b_test.c
}

# makes MARK ...: the small project; its sqlite3_bloom_init() returns MARK, and no test needs a library.
makes() {
  mark=$1
  shift
  make -C $small CPPFLAGS=-DMARK="$mark" CMOCKA_LIBS= "$@"
}
# is_made MARK: loaded, ./bloom.so returns it.
is_made() {
  same "$1" "$("$PYTHON" -c 'import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).sqlite3_bloom_init())' ./$small/bloom.so)"
}
defines() { nm $small/bloom.so | grep " $1\$"; }

last_build_counts() {
  small_project && makes 1 && is_made 1 && makes 2 BUILD=build/debug && is_made 2 && makes 1 && is_made 1 &&
    same '' "$(makes 1 -s)" && cmp $small/bloom.so $small/build/release/ext/bloom.so
}
relinks() {
  small_project && makes 1 && ! readelf -d $small/bloom.so | grep BIND_NOW &&
    makes 1 LDFLAGS=-Wl,-z,now && readelf -d $small/bloom.so | grep BIND_NOW
}
forgets_removed_sources() {
  small_project && makes 1 && defines bloom_two && rm $small/ext/core/two.c && makes 1 && ! defines bloom_two && defines bloom_one
}
tests_that_are_listed() {
  small_project && makes 1 core-tests && rm $small/test/core/b_test.c && makes 1 core-tests &&
    [ -e $small/build/release/test/core/b_test ] &&
    same build/release/test/core/a_test "$(cat $small/build/release/test/core/programs)" &&
    { (cd $small && sh "$OLDPWD/test/core/run.sh" build/release >../core.log); ! grep b_test $work/core.log; }
}
installs_what_was_built() {
  small_project && makes 1 && touch $small/ext/bloom.c && is_made 1 &&
    makes 2 install CC=false OPT=-O0 DESTDIR="$PWD/$small/root" prefix=/usr && is_made 1 && cmp $small/bloom.so $small/root/usr/lib/libbloom.so
}
installs_nothing() {
  small_project && ! makes 1 install DESTDIR="$PWD/$small/root" >$work/install.log 2>&1 &&
    grep 'run make first' $work/install.log && [ ! -e $small/root ] && [ ! -e $small/build ]
}
# A user without root, whose ldconfig may not write.
installs_quietly() {
  rm -rf $work/bin && mkdir -p $work/bin && printf '#!/bin/sh\necho 1000\n' >$work/bin/id &&
    printf '#!/bin/sh\necho "ldconfig: Permission denied" >&2\nexit 1\n' >$work/bin/ldconfig && chmod +x $work/bin/* &&
    PATH="$PWD/$work/bin:$PATH" make install prefix="$PWD/$work/user" >$work/install.log 2>&1 || return
  ! grep 'Permission denied' $work/install.log && [ -e $work/user/lib/libbloom.so ]
}
cleans() {
  small_project && mkdir -p $small/examples/static && (cd $small && find . | sort) >$work/before &&
    makes 1 all core-tests && makes 2 BUILD=build/debug && touch $small/examples/static/blacklist && makes 1 clean &&
    (cd $small && find . | sort) | diff $work/before -
}

# The installer on a machine without a compiler, whose sudo says no.
asks_sudo_once() {
  mkdir -p $work/bin && rm -f $work/asked &&
    printf '#!/bin/sh\necho 1000\n' >$work/bin/id && printf '#!/bin/sh\nexit 1\n' >$work/bin/apt-get &&
    printf '#!/bin/sh\necho "asked: $*" >>%s\nexit 1\n' "'$PWD/$work/asked'" >$work/bin/sudo && chmod +x $work/bin/* || return
  ! PATH="$PWD/$work/bin:$PATH" CC=false sh test/lib/install_packages.sh build >$work/said 2>&1 &&
    same 'asked: -n true' "$(cat $work/asked)" && grep 'apt-get update && apt-get install --no-install-recommends gcc' $work/said
}

installed() { (cd $work/root && find . ! -type d | sort); }
wanted='./usr/include/bloom.h
./usr/lib/libbloom.so
./usr/lib/pkgconfig/sqlite-bloom.pc
./usr/share/man/man7/sqlite-bloom.7'
installs_elsewhere() {
  make install DESTDIR="$PWD/$work/root" prefix=/usr libdir=/usr/lib/multi includedir=/h mandir=/m &&
    same './h/bloom.h
./m/man7/sqlite-bloom.7
./usr/lib/multi/libbloom.so
./usr/lib/multi/pkgconfig/sqlite-bloom.pc' "$(installed)" && grep '^libdir=/usr/lib/multi$' $work/root/usr/lib/multi/pkgconfig/sqlite-bloom.pc &&
    make uninstall DESTDIR="$PWD/$work/root" prefix=/usr libdir=/usr/lib/multi includedir=/h mandir=/m && same '' "$(installed)"
}

# Every function that bloom registers, and no placeholder.
man_page_is_whole() {
  page=$work/root/usr/share/man/man7/sqlite-bloom.7
  ! grep @ $page | grep -v ada@example || return
  sqlite3 :memory: '.load ./bloom' 'SELECT DISTINCT name FROM pragma_function_list UNION SELECT name FROM pragma_module_list' |
    grep ^bloom_ >$work/names && [ -s $work/names ] || return
  while read -r name; do grep -q "^\.B $name(" $page || { echo "no $name"; return 1; }; done <$work/names
  ! command -v mandoc >/dev/null || mandoc -T lint -W warning $page
}

# asks_pkg_config QUESTION ...: about what is in $work/root.
asks_pkg_config() {
  PKG_CONFIG_SYSROOT_DIR=$PWD/$work/root PKG_CONFIG_PATH=$work/root/usr/lib/pkgconfig pkg-config "$@" sqlite-bloom
}
# SQLite hands on its functions to what sqlite3_auto_extension() names; a direct call has none.
cat >$work/misuse.c <<'END'
#include "bloom.h"
int main(void){
  sqlite3 *db;
  if( sqlite3_open(":memory:", &db) || sqlite3_bloom_init(db, 0, 0)!=SQLITE_MISUSE ) return 1;
  return sqlite3_close(db);
}
END
links_by_pkg_config() {
  same "$version" "$(asks_pkg_config --modversion)" || return
  for program in static misuse; do
    # shellcheck disable=SC2046 # flags
    ${CC:-cc} $work/$program.c $(asks_pkg_config --cflags --libs) -o $work/shared_$program || return
  done
  same "$version" "$(LD_LIBRARY_PATH=$work/root/usr/lib $work/shared_static)" &&
    LD_LIBRARY_PATH=$work/root/usr/lib $work/shared_misuse
}

if [ "$(uname -s)" = Linux ]; then
  check 'bloom.so exports one symbol' same sqlite3_bloom_init "$(exports)"
  check 'bloom.so needs no library but libc' same '' "$(needed_but_libc)"
fi
# Names of one file may clash with those of another there.
is_one_file() {
  make -s amalgamation && ${CC:-cc} -std=c11 -Wall -Wextra -Wshadow -Werror -DSQLITE_CORE -fsyntax-only build/amalgamation/bloom.c
}
long_lines() {
  awk 'length>100 {print FILENAME ":" FNR}' ext/*.[ch] ext/*/*.[ch] ext/*/*/*.[ch]
}
check 'lines of C have at most 100 characters' same '' "$(long_lines)"
check 'as one file it compiles' is_one_file
check '.load ./bloom works in the stock shell' loads ./bloom
check 'loaded twice it works, too' same "$version" "$(shell '.load ./bloom' '.load ./bloom' 'SELECT bloom_version();')"
check 'says why, if a running statement loads it once more' says_why_it_does_not_load
[ "${1-}" != symbols ] || finish
# The one that is ${CC:-cc} has made all the rest, in CI without a warning.
for compiler in gcc clang; do
  if ! command -v $compiler >/dev/null 2>&1; then
    echo "note: there is no $compiler here"
  elif [ "$($compiler -dumpversion)" != "$(${CC:-cc} -dumpversion)" ]; then
    check "$compiler gives no warning" builds $compiler
  fi
done
check 'links statically' links_objects
check 'links as one object' links_as_object
check 'builds as one file' builds_as_one_file
if command -v "${CXX:-c++}" >/dev/null 2>&1; then check 'bloom.h is a C++ header too' header_is_cxx; fi

check 'the last make decides what ./bloom.so is' last_build_counts
if [ "$(uname -s)" = Linux ]; then check 'other flags for the linker link anew' relinks; fi
check 'a source that was removed is not linked' forgets_removed_sources
check 'a test that was removed is not run' tests_that_are_listed
check 'make install compiles nothing' installs_what_was_built
check 'make install says what is missing' installs_nothing
check 'make install without root leaves ldconfig alone' installs_quietly
check 'make clean leaves nothing' cleans

check 'a sudo that refuses is asked once' asks_sudo_once

check 'make install' make install DESTDIR=$work/root prefix=/usr
check 'installs these files' same "$wanted" "$(installed)"
check '.load libbloom works where installed' loads $work/root/usr/lib/libbloom
check 'the man page names every function' man_page_is_whole
if command -v pkg-config >/dev/null 2>&1; then
  check 'a program links it by pkg-config' links_by_pkg_config
else
  echo 'note: there is no pkg-config here'
fi
check 'make uninstall' make uninstall DESTDIR=$work/root prefix=/usr
check 'uninstall leaves no file' same '' "$(installed)"
check 'make install goes where it is told, and uninstall with it' installs_elsewhere

finish
