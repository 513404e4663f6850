#!/bin/sh
# Makes the page and a log to search: sh examples/static_host/build.sh [ROWS] (`make static-host`).
# build/static_host then holds all that a host needs; log.db is there once a million rows are made.
#
# Needs what `sh test/lib/install_packages.sh build test wasm` installs, and ./bloom.so.
set -eu
cd "$(dirname "$0")/../.."
out=build/static_host
WASM_FOLDER=static_host WASM_SOURCE=examples/static_host/remote.c WASM_API=examples/static_host/remote_api.js \
  WASM_OPTIONS=-DSQLITE_ENABLE_FTS5 sh examples/playground/wasm/build.sh
cp examples/static_host/index.html examples/static_host/style.css examples/static_host/page.js examples/static_host/worker.js $out
if [ -n "${1-}" ] || [ ! -e $out/log.db ]; then
  printf '  %-7s %s\n' MAKE $out/log.db
  . test/lib/shared.sh
  find_python
  "$PYTHON" examples/static_host/make_log.py $out/log.db ${1+"$1"}
fi
ls -l $out
