#!/bin/sh
# Runs the catalogue of Parquet files and compares what it prints, less the times:
# sh examples/parquet/test.sh, at the top of the checkout, after `make`.  Needs node and
# npm, and a compiler where better-sqlite3 has no binary for this Node.
# Ends with `N passed, N failed`.
set -u
work=build/catalogue
mkdir -p $work && cp examples/parquet/package.json $work || exit 1
{ [ -d $work/node_modules/better-sqlite3 ] && [ -d $work/node_modules/@duckdb/node-api ]; } ||
  npm install --prefix $work --no-audit --no-fund >$work/install.log 2>&1 || {
  cat $work/install.log
  echo '0 passed, 1 failed'
  exit 1
}
if NODE_PATH=$work/node_modules node examples/parquet/catalogue.js >$work/output &&
  sed 's/ *[0-9.]* ms$//' $work/output | diff -u examples/parquet/catalogue.expected -; then
  echo '1 passed, 0 failed'
else
  echo '0 passed, 1 failed'
  exit 1
fi
