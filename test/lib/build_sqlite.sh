#!/bin/sh
# Builds SQLite of other versions than the system's: sh test/lib/build_sqlite.sh VERSION ...
# Without a VERSION it lists those that it can build. With --sources before it, it
# compiles nothing: build/sqlite/sources-VERSION/ then holds sqlite3.c and its headers.
#
# The sources come inside npm's packages, fetched by `npm pack`. build/sqlite/VERSION/
# then holds sqlite3.c, sqlite3.h, sqlite3ext.h, shell.c, tclsqlite.c and, built with
# Debian's options: libsqlite3.so.0 (its folder in LD_LIBRARY_PATH runs any program on it), sqlite3 (the
# shell) and tclsqlite3.so (for tclsh: load FILE Sqlite3). What is there is left alone.
set -eu
cd "$(dirname "$0")/../.."

# version npm package, and where a package has no shell.c and tclsqlite.c whose to take
packages='
3.9.1    sqlite3@3.1.1
3.31.1   sqlite3@5.0.0
3.38.2   sqlite3@5.0.3
3.44.2   sqlite3@5.1.7
3.52.0   sqlite3@6.0.1
3.54.1   better-sqlite3@13.2.0 3.52.0
'

# Debian's, as far as the amalgamation allows.
options='-DSQLITE_THREADSAFE=1 -DSQLITE_SECURE_DELETE -DSQLITE_ENABLE_COLUMN_METADATA
  -DSQLITE_ENABLE_DBPAGE_VTAB -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_DESERIALIZE -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS3_PARENTHESIS
  -DSQLITE_ENABLE_FTS3_TOKENIZER -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5
  -DSQLITE_ENABLE_JSON1 -DSQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_ENABLE_MATH_FUNCTIONS
  -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_SESSION
  -DSQLITE_ENABLE_STMTVTAB -DSQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_SOUNDEX
  -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_OMIT_LOOKASIDE -DSQLITE_USE_URI
  -DSQLITE_TEMP_STORE=1 -DSQLITE_MAX_SCHEMA_RETRY=25 -DSQLITE_MAX_VARIABLE_NUMBER=250000
  -DSQLITE_MAX_DEFAULT_PAGE_SIZE=32768 -DHAVE_ISNAN -DHAVE_USLEEP'

work=$PWD/build/sqlite/work.$$
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

die() {
  echo "build_sqlite.sh: $*" >&2
  exit 1
}

# Runs a command silently; what it printed is shown if it fails.
quietly() { "$@" >"$work/log" 2>&1 </dev/null || { tail -n 20 "$work/log" >&2; return 1; }; }

compile() { quietly "${CC:-cc}" -w -O2 -fPIC "$@"; }

# unpack PACKAGE: its SQLite files, wherever they are in it, to $work/tree.
unpack() {
  command -v npm >/dev/null 2>&1 || die "npm is missing (Debian: apt-get install npm)"
  rm -rf "$work/npm" "$work/tree"
  mkdir "$work/npm" "$work/tree"
  (cd "$work/npm" && quietly npm pack --silent "$1") || die "npm pack $1 failed: is there a network?"
  for archive in "$work"/npm/*.tgz; do tar -xzf "$archive" -C "$work/npm"; done
  for archive in "$work"/npm/package/deps/sqlite-autoconf-*.tar.gz; do
    [ ! -e "$archive" ] || tar -xzf "$archive" -C "$work/npm"
  done
  find "$work/npm" \( -name sqlite3.c -o -name sqlite3.h -o -name sqlite3ext.h -o -name shell.c \) \
    -exec cp {} "$work/tree/" \;
  find "$work/npm" -name tclsqlite3.c -exec cp {} "$work/tree/tclsqlite.c" \;
}

# fetch VERSION PACKAGE: its files to $work/tree.
fetch() {
  mkdir "$work"
  unpack "$2"
  found=$(sed -n 's/^#define SQLITE_VERSION  *"\(.*\)"$/\1/p' "$work/tree/sqlite3.h")
  [ "$found" = "$1" ] || die "$2 holds SQLite '$found', not $1"
}

# keep FOLDER: puts $work/tree there.
keep() {
  # Another run may have been faster.
  [ -d "$1" ] || mv "$work/tree" "$1"
  rm -rf "$work"
}

build() {
  version=$1 package=$2 lender=$3
  fetch "$version" "$package"
  cd "$work/tree"
  if [ -n "$lender" ]; then cp "$OLDPWD/build/sqlite/$lender/shell.c" "$OLDPWD/build/sqlite/$lender/tclsqlite.c" .; fi
  compile $options -c sqlite3.c || die "sqlite3.c of $version does not compile"
  compile -shared -Wl,-soname,libsqlite3.so.0 sqlite3.o -o libsqlite3.so.0 -lpthread -ldl -lm ||
    die "libsqlite3.so.0 of $version does not link"
  compile $options -I. shell.c sqlite3.o -o sqlite3 -lpthread -ldl -lm || die "the shell of $version does not build"
  # -Bsymbolic: its own SQLite, whatever else is loaded.
  compile $options -DUSE_SYSTEM_SQLITE -DUSE_TCL_STUBS -DPACKAGE_NAME='"sqlite3"' -DPACKAGE_VERSION="\"$version\"" \
    -I. -I/usr/include/tcl8.6 -shared -Wl,-Bsymbolic tclsqlite.c sqlite3.o -o tclsqlite3.so \
    -ltclstub8.6 -lpthread -ldl -lm || die "tclsqlite3.so of $version does not build (Debian: apt-get install tcl-dev)"
  rm sqlite3.o
  cd "$OLDPWD"
  keep "build/sqlite/$version"
}

# Sets line to the version's row.
look_up() {
  line=$(echo "$packages" | grep "^$1 " || :)
  [ -n "$line" ] || die "no source known for SQLite $1; there is$(echo "$packages" | sed 's/ .*//' | tr '\n' ' ')"
}

# make_sources VERSION, make_version VERSION: unless it is there.
make_sources() {
  [ ! -d "build/sqlite/sources-$1" ] || return 0
  look_up "$1"
  set -- $line
  fetch "$1" "$2"
  keep "build/sqlite/sources-$1"
}

make_version() {
  [ ! -d "build/sqlite/$1" ] || return 0
  look_up "$1"
  set -- $line
  [ -z "${3-}" ] || make_version "$3"
  # The names above were set anew by then.
  [ -d "build/sqlite/$1" ] || build "$1" "$2" "${3-}"
}

[ $# != 0 ] || echo "$packages" | sed -n 's/ .*//p'
mkdir -p build/sqlite
if [ "${1-}" = --sources ]; then
  shift
  for wanted in "$@"; do make_sources "$wanted"; done
else
  for wanted in "$@"; do make_version "$wanted"; done
fi
