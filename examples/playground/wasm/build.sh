#!/bin/sh
# Makes SQLite with bloom in it for web pages: sh examples/playground/wasm/build.sh (`make wasm`).
# build/playground/sqlite-bloom.js is then a program in one file, its WebAssembly in Base64
# inside: a page loads it by one <script>, from a server or from the disk alike.
#
# Needs what `sh test/lib/install_packages.sh build wasm` installs.
#
# Another page may want more (examples/static_host/build.sh):
#   WASM_FOLDER   where the program goes, in build
#   WASM_SOURCE   one more C file, and WASM_API, one more file like api.js
#   WASM_OPTIONS  more of SQLite's options
set -eu
cd "$(dirname "$0")/../../.."
folder=${WASM_FOLDER:-playground}
work=build/wasm/$folder
out=build/$folder
mkdir -p "$work" "$out"

# The newest that build_sqlite.sh knows.
version=$(sh test/lib/build_sqlite.sh | tail -n 1)
sqlite=build/sqlite/sources-$version
sh test/lib/build_sqlite.sh --sources "$version"
sh ext/amalgamate.sh $work

# emcc asks node for Debian's modules, which only Debian's own node finds by itself.
export NODE_PATH="/usr/share/nodejs${NODE_PATH:+:$NODE_PATH}"

# No threads, files that are shared, or libraries to load: a page has none. The parser is
# left whole, as SQLite's amalgamation requires.
sqlite_options='-DSQLITE_THREADSAFE=0 -DSQLITE_DEFAULT_MEMSTATUS=0 -DSQLITE_DQS=0 -DSQLITE_TEMP_STORE=3
  -DSQLITE_LIKE_DOESNT_MATCH_BLOBS -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_LOAD_EXTENSION
  -DSQLITE_OMIT_SHARED_CACHE -DSQLITE_OMIT_WAL -DSQLITE_ENABLE_MATH_FUNCTIONS '${WASM_OPTIONS-}
# The one file holds functions of headers that not every build calls.
warnings='-Wall -Wextra -Wno-unused-function -Wpedantic -Wconversion -Wsign-conversion -Wcast-qual -Wcast-align -Wshadow -Werror'

# compile NAME SOURCE FLAG ...: unless the object is newer than all that it is made of.
compile() {
  object=$work/$1.o
  if [ ! -e "$object" ] || [ -n "$(find "$2" examples/playground/wasm/build.sh $work/bloom.h -newer "$object")" ]; then
    printf '  %-7s %s\n' EMCC "$2"
    source=$2
    shift 2
    emcc "$@" -c "$source" -o "$object.new" && mv "$object.new" "$object"
  fi
}
compile sqlite3 "$sqlite/sqlite3.c" -Oz -w $sqlite_options
compile bloom $work/bloom.c -Oz -std=c11 $warnings -DSQLITE_CORE -DSQLITE_THREADSAFE=0 "-I$sqlite" -I$work
compile database examples/playground/wasm/database.c -Oz -std=c11 $warnings -DSQLITE_CORE "-I$sqlite" -I$work
[ -z "${WASM_SOURCE-}" ] || compile more "$WASM_SOURCE" -Oz -std=gnu11 -Wall -Wextra -Werror -DSQLITE_CORE "-I$sqlite" "-I$work"

apis="examples/playground/wasm/api.js ${WASM_API-}"
functions=$(sed -n 's/.*[^a-z0-9_]\(_\(sqlite3\|database\|remote\)_[a-z0-9_]*\)(.*/\1/p' $apis | sort -u | paste -sd , -)
printf '  %-7s %s\n' LINK $out/sqlite-bloom.js
emcc -Oz $work/*.o $(printf ' --post-js %s' $apis) -o $out/sqlite-bloom.js \
  -sSINGLE_FILE -sMODULARIZE -sEXPORT_NAME=sqliteBloom -sEXPORTED_FUNCTIONS="_malloc,_free,$functions" \
  -sALLOW_MEMORY_GROWTH -sALLOW_TABLE_GROWTH -sEXPORTED_RUNTIME_METHODS=addFunction -sWASM_BIGINT -sENVIRONMENT=web,worker,node
