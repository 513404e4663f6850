#!/bin/sh
# Tests the extension on other machines than this one: sh test/platforms/machines/run.sh MACHINE ...,
# at the top of the checkout. Ends with `N passed, N failed`.
#
#   s390x    big-endian, under qemu-user
#   aarch64  64-bit Arm under qemu-user
#   i686     32 bits
#   windows  the DLL that mingw-w64 builds, under wine
#   wasm     WebAssembly under Node, 32 bits: emscripten, which Debian has
#   builds   this machine: gcc and clang, -O0 and -O3, with and without vector code
#
# On each: the extension builds without a warning and passes the core's tests, golden
# files among them, and the SQL tests, both unchanged; the sqlite3 shell loads it; and
# filters written there and here are the same bytes and give the same answers. WebAssembly
# loads nothing, so there bloom is linked with SQLite.
. test/lib/shared.sh
unset CC CFLAGS CPPFLAGS
top=build/machines
version=3.44.2
# Emulated processors run a part of the large random counts, in per cent.
emulated_share=3
export WINEPREFIX="$PWD/$top/wine" WINEDEBUG=-all

# The headers that every machine shares: SQLite's and xxHash's, one file each.
include=$top/include
sqlite=build/sqlite/$version
prepare() {
  sh test/lib/build_sqlite.sh $version && mkdir -p $include && cp $sqlite/sqlite3.h $sqlite/sqlite3ext.h $include &&
    cp "$(echo '#include <xxhash.h>' | cc -E - | sed -n 's/^# [0-9]* "\(.*xxhash\.h\)".*/\1/p' | sed -n 1p)" $include
}

# made TARGET ...: by make, for this machine. Programs hold the SQLite that prepare brought.
made() {
  make -j "$jobs" CC="$compiler" CXX=false BUILD="$work" EXTENSION="$extension" OPT="$opt" \
    CPPFLAGS="-I$include $defines" SQLITE_LIBS="$work/sqlite3-$version.o $libraries" WERROR=1 "$@"
}

sql_options='-DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_FTS5
  -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_COLUMN_METADATA'

# The programs that hold SQLite: the runner's process, and the shell.
programs_built() {
  [ -e "$work/sqlite3-$version.o" ] || $compiler -w -O0 $sql_options -c $sqlite/sqlite3.c -o "$work/sqlite3-$version.o" || return
  made sql-process &&
    $compiler -w -O0 $sql_options -I$include $sqlite/shell.c "$work/sqlite3-$version.o" -o "$work/sqlite3$exe" $libraries
}

# One symbol out; in, nothing but what every Windows has.
dll_is_lean() {
  x86_64-w64-mingw32-objdump -p "$extension" >"$work/objdump" || return
  [ "$(sed -n 's/^.*DLL Name: *//p' "$work/objdump" | sort | tr '\n' ' ')" = 'KERNEL32.dll msvcrt.dll ' ] &&
    [ "$(sed -n '/Name Pointer\] Table/,/^$/s/^.*\[ *[0-9]*\] *//p' "$work/objdump")" = sqlite3_bloom_init ]
}

shell_there() { $run "$work/sqlite3$exe" -bail -cmd ".load $extension" "$@" | tr -d '\r'; }
shell_here() { sqlite3 -bail -cmd '.load ./bloom' "$@"; }

# filters_cross: written there and here, read there and here, all the same.
filters_cross() {
  rm -f "$work/there.db" "$work/here.db"
  shell_there "$work/there.db" <test/platforms/machines/write_filters.sql &&
    shell_here "$work/here.db" <test/platforms/machines/write_filters.sql || return
  shell_here "$work/here.db" <test/platforms/machines/read_filters.sql >"$work/here.txt"
  [ "$(wc -l <"$work/here.txt")" -gt 50 ] || return
  for database in there here; do
    shell_there "$work/$database.db" <test/platforms/machines/read_filters.sql >"$work/got.txt"
    cmp "$work/here.txt" "$work/got.txt" || return
  done
  shell_here "$work/there.db" <test/platforms/machines/read_filters.sql | cmp "$work/here.txt" -
}

# machine NAME COMPILER RUN LIBRARIES KERNELS: KERNELS is the row that it must choose.
machine() {
  name=$1 compiler=$2 run=$3 libraries=$4 kernels=$5
  opt='-O3' defines=''
  work=$top/$name
  mkdir -p "$work"
  case $name in windows) extension=$work/bloom.dll exe=.exe ;; *) extension=$work/bloom.so exe='' ;; esac
  check "$name: the extension builds without a warning" made all
  [ "$name" != windows ] || check "$name: the DLL exports and needs no more than it must" dll_is_lean
  check "$name: the core's tests build" made core-tests
  adds_up "$name: core" env BLOOM_TEST_KERNELS="$kernels" BLOOM_TEST_SHARE=$emulated_share \
    sh test/core/run.sh "$work" $run
  core=$passed
  check "$name: SQLite builds" programs_built
  adds_up "$name: SQL" tclsh test/sql/runner/sqllogictest.tcl --process "$run $work/test/platforms/machines/sql_process$exe" --load "$extension" test/sql/records
  check "$name: filters written there and here are the same" filters_cross
  echo "note: $name: $core core tests with the $kernels kernels, $passed SQL records on SQLite $version"
}

# wasm: each program is one file of JavaScript, which may read the disk.
wasm() {
  compiler=emcc opt=-O2 defines=-DSQLITE_CORE extension='' libraries=''
  work=$top/wasm
  mkdir -p "$work"
  # emcc asks node for Debian's modules, which only Debian's own node finds by itself.
  export NODE_PATH="/usr/share/nodejs${NODE_PATH:+:$NODE_PATH}"
  export LDFLAGS='-sSINGLE_FILE -sALLOW_MEMORY_GROWTH -sNODERAWFS -sEXIT_RUNTIME --pre-js test/platforms/machines/wasm_environment.js'
  objects=$(for source in ext/*.c ext/*/*.c ext/*/*/*.c; do printf "%s " "$work/${source%.c}.o"; done)
  check 'wasm: the extension builds without a warning' made $objects
  check "wasm: the core's tests build" made core-tests
  adds_up 'wasm: core' env BLOOM_TEST_KERNELS=scalar BLOOM_TEST_SHARE=$emulated_share sh test/core/run.sh "$work" node
  core=$passed
  libraries=$objects
  [ -e "$work/sqlite3-$version.o" ] ||
    check 'wasm: SQLite builds' emcc -w -O2 $sql_options -c $sqlite/sqlite3.c -o "$work/sqlite3-$version.o"
  check 'wasm: the SQL process builds' made sql-process
  adds_up 'wasm: SQL' tclsh test/sql/runner/sqllogictest.tcl --process "node $work/test/platforms/machines/sql_process" test/sql/records
  echo "note: wasm: $core core tests with the scalar kernels, $passed SQL records on SQLite $version"
  unset LDFLAGS
}

# builds: the core's tests and the SQL tests in this machine's own terms.
builds() {
  run='' exe='' libraries=''
  num_builds=0
  for compiler in gcc clang; do
    for opt in -O0 -O3; do
      for defines in '' -DBLOOM_NO_SIMD; do
        work=$top/$compiler$opt$defines
        extension=$work/bloom.so
        mkdir -p "$work"
        name="$compiler $opt $defines"
        check "$name: builds without a warning" made all
        check "$name: the core's tests build" made core-tests
        # Without vector code there is only one row to choose.
        if [ -n "$defines" ]; then expected=scalar; else expected=$best_kernels; fi
        adds_up "$name: core" env ${expected:+BLOOM_TEST_KERNELS=$expected} BLOOM_TEST_SHARE=$emulated_share \
          sh test/core/run.sh "$work"
        core=$passed
        adds_up "$name: SQL" tclsh test/sql/runner/sqllogictest.tcl --load "$extension" test/sql/records
        num_builds=$((num_builds + 1))
      done
    done
  done
  echo "note: $num_builds builds, each $core core tests and $passed SQL records"
}

# An x86-64 processor runs these itself; any other emulates.
i686_loader='/usr/i686-linux-gnu/lib/ld-linux.so.2 --library-path /usr/i686-linux-gnu/lib'
[ "$(uname -m)" = x86_64 ] || i686_loader='qemu-i386 -L /usr/i686-linux-gnu'

# What this machine must choose, by its own word (core/leveldb/kernels.c says what it takes).
has_flags() {
  for flag in "$@"; do grep -qw "$flag" /proc/cpuinfo 2>/dev/null || return; done
}
best_kernels=
if has_flags avx2; then best_kernels=avx2; fi

work=$top
mkdir -p $work || exit 1
prepare || exit 1
make -j "$jobs" || exit 1
for target in "$@"; do
  case $target in
    s390x)   machine s390x s390x-linux-gnu-gcc 'qemu-s390x -L /usr/s390x-linux-gnu' '-ldl -lm -lpthread' scalar ;;
    aarch64) machine aarch64 aarch64-linux-gnu-gcc 'qemu-aarch64 -L /usr/aarch64-linux-gnu' '-ldl -lm -lpthread' scalar ;;
    i686)    machine i686 i686-linux-gnu-gcc "$i686_loader" '-ldl -lm -lpthread' scalar ;;
    windows) machine windows x86_64-w64-mingw32-gcc /usr/lib/wine/wine64 '' "$best_kernels" ;;
    wasm)    wasm ;;
    builds)  builds ;;
    *)       echo "unknown machine $target"; exit 1 ;;
  esac
done
finish
