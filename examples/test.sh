#!/bin/sh
# Builds and runs the examples, and compares what they print with their
# .expected files.  Run after `make`:  sh examples/test.sh
# Last line: `N passed, N failed`.  Exit status 1 if one failed.
# (examples/packages and examples/demo.sh have tests of their own.)

cd "$(dirname "$0")/.." || exit 1
python=${PYTHON:-/usr/bin/python3}
output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT
num_passed=0
num_failed=0

passed() { num_passed=$((num_passed + 1)); }
failed() { num_failed=$((num_failed + 1)); printf 'FAILED %s\n' "$1"; }

# check EXPECTED_FILE COMMAND...: the command succeeds and prints just that.
check() {
  expected=$1
  shift
  if ! "$@" >"$output" 2>&1; then
    failed "$*: exit status"
    cat "$output"
  elif ! diff -u "$expected" "$output"; then
    failed "$*"
  else
    passed
  fi
}

shell_session() { ${SQLITE3:-sqlite3} -batch <examples/shell/session.sql; }

build_clean() {
  make -s --no-print-directory -C examples/static clean &&
  make -s --no-print-directory -C examples/static CFLAGS='-O2 -Werror'
}

check examples/shell/session.expected shell_session
check /dev/null build_clean
check examples/static/blacklist.expected examples/static/blacklist
check examples/python/thumbnails.expected "$python" examples/python/thumbnails.py
check examples/python/seen_urls.expected "$python" examples/python/seen_urls.py
check examples/python/slow_store.expected "$python" examples/python/slow_store.py
check examples/python/coordinator.expected "$python" examples/python/coordinator.py
check examples/python/handed_out.expected "$python" examples/python/handed_out.py
check examples/shell/revoked.expected sh examples/shell/revoked.sh
check examples/shell/shards.expected sh examples/shell/shards.sh
check examples/bloomfile/which_logs.expected sh examples/bloomfile/which_logs.sh

echo "$num_passed passed, $num_failed failed"
[ "$num_failed" -eq 0 ]
