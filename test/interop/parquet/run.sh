#!/bin/sh
# Parquet's filter beside real writers and a real reader of Parquet files: what
# real_files.py says.  sh test/interop/parquet/run.sh, at the top of the checkout, after `make`.
# Needs node and npm, which brings DuckDB, hyparquet-writer and @dsnp/parquetjs into
# build/parquet.
# Ends with `N passed, N failed`.
#
#     sh test/interop/parquet/run.sh --golden >test/core/golden_parquet.h
set -u
. test/lib/shared.sh
find_python
work=build/parquet
mkdir -p $work && cp test/interop/parquet/package.json test/interop/parquet/writers.mjs \
  examples/parquet/read_filter.js $work || exit 1
{ [ -d $work/node_modules/hyparquet-writer ] && [ -d $work/node_modules/@dsnp/parquetjs ]; } ||
  npm install --prefix $work --no-audit --no-fund >$work/install.log 2>&1 || {
  cat $work/install.log
  echo '0 passed, 1 failed'
  exit 1
}
"$PYTHON" test/interop/parquet/real_files.py $work "$@"
