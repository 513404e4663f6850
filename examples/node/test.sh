#!/bin/sh
# Runs the Node example on better-sqlite3 and compares what it prints:
# sh examples/node/test.sh, at the top of the checkout, after `make`.  Needs node and npm,
# and a compiler where better-sqlite3 has no binary for this Node.
# Ends with `N passed, N failed`.
set -u
work=build/node
mkdir -p $work && cp examples/node/package.json $work || exit 1
[ -d $work/node_modules/better-sqlite3 ] || npm install --prefix $work --no-audit --no-fund >$work/install.log 2>&1 || {
  cat $work/install.log
  echo '0 passed, 1 failed'
  exit 1
}
if NODE_PATH=$work/node_modules node examples/node/known_keys.js | diff -u examples/node/known_keys.expected -; then
  echo '1 passed, 0 failed'
else
  echo '0 passed, 1 failed'
  exit 1
fi
