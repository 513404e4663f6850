#!/bin/sh
# Parquet's filter beside real writers and a real reader of Parquet files: what
# real_files.py says.  sh test/parquet/run.sh, at the top of the checkout, after `make`.
# Needs node and npm, which brings DuckDB and hyparquet-writer into build/parquet.
# Ends with `N passed, N failed`.
#
#     sh test/parquet/run.sh --golden >test/core/golden_parquet.h
set -u
. test/shared.sh
find_python
work=build/parquet
mkdir -p $work && cp test/parquet/package.json test/parquet/writers.mjs $work || exit 1
[ -d $work/node_modules/hyparquet-writer ] ||
  npm install --prefix $work --no-audit --no-fund >$work/install.log 2>&1 || {
  cat $work/install.log
  echo '0 passed, 1 failed'
  exit 1
}
"$PYTHON" test/parquet/real_files.py $work "$@"
