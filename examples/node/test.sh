#!/bin/sh
# Runs the Node examples, on better-sqlite3 and classic-level, and compares what they print:
# sh examples/node/test.sh, at the top of the checkout, after `make`.  Needs node and npm,
# and a compiler where one of the two has no binary for this Node.
# Ends with `N passed, N failed`.
set -u
work=build/node
num_passed=0
num_failed=0
mkdir -p $work && cp examples/node/package.json $work || exit 1
{ [ -d $work/node_modules/better-sqlite3 ] && [ -d $work/node_modules/classic-level ]; } ||
  npm install --prefix $work --no-audit --no-fund >$work/install.log 2>&1 || {
  cat $work/install.log
  echo '0 passed, 1 failed'
  exit 1
}
for example in known_keys leveldb_tables; do
  if NODE_PATH=$work/node_modules node examples/node/$example.js 2>&1 | diff -u examples/node/$example.expected -; then
    num_passed=$((num_passed + 1))
  else
    num_failed=$((num_failed + 1))
  fi
done
echo "$num_passed passed, $num_failed failed"
[ $num_failed = 0 ]
