#!/bin/sh
# Builds and runs the examples, and compares what they print with their
# .expected files.  Run after `make`:  sh examples/test.sh [gain], for those of gain.sh alone.
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

# Of few messages, and without what the machine's Python and SQLite decide: all ways find the same.
agents() { "$python" examples/agents/messages.py 1000 >build/agents; }
shell_session() { ${SQLITE3:-sqlite3} -batch <examples/shell/session.sql; }

build_clean() {
  make -s --no-print-directory -C examples/static clean &&
  make -s --no-print-directory -C examples/static CFLAGS='-O0 -Werror'
}

# gain.sh on a shop whose orders name codes, nearly all of other countries: what it prints, with
# N for what depends on the machine; then what there is in the folder, for the database is to be
# as it was; then what the SQL that it recommends gives there.
gain() {
  work=$(mktemp -d) || return
  ${SQLITE3:-sqlite3} -batch "$work/shop.db" <examples/shell/gain.sql && before=$(cksum <"$work/shop.db") &&
    TMPDIR=$work GAIN_ROUNDS=${rounds:-1} sh examples/gain.sh "$work/shop.db" "$@" >"$work/printed" 2>&1
  sed '/^    [ A-Z]/d
    s/ *[0-9]* ms *[0-9.]*x/ N/
    s/done in [0-9]* s/done in N s/
    s/database, [0-9]* MB/database, N MB/
    s/match: \(a filter keeps the others from being looked up\|look up the rows that pass\|write IN\)[,; ].*/match: a filter or IN/
    s/is [0-9.]* times as fast as that/is N times as fast as that/
    /^With columns of /d
    /^LEFT JOIN:/d
    s/more than [0-9]* s/more than N s/; s/> [0-9]* s/> N s/
    /^$/d' "$work/printed"
  grep -o 'count(f[^ ]*' "$work/printed" | sort -u
  [ "$before" = "$(cksum <"$work/shop.db")" ] && ls "$work" &&
    { echo '.load ./bloom'; sed -n '/^    [ A-Z][^ ]/p; /^    *AND/p' "$work/printed"; } | ${SQLITE3:-sqlite3} -batch "$work/shop.db" | sort -nu
  status=$?
  rm -rf "$work"
  return $status
}

# LEFT JOIN is printed if d makes it faster: its rows are left out if they are right.
few_match() ( rounds=3; gain orders.code customers.code "country = 'NZ'" | sed '/^100000|100000$/d'; )
# Which form is the best is close here.
all_match() { gain 'same_orders.(id, code)' 'orders.(id, code)' | grep 'match: 100 %\|bytes'; }
loses_rows() { gain orders.loud customers.nocase | sed '/^count/d; /^printed$/,$d; /^    /d; s/^100 % match[:,] .*/100 %/; /^An index/d'; }
# Joins where bytes are not enough: which forms lose rows, which indexes cannot be searched, and that
# none of them is recommended: what is printed by the SQL that is, is left out if it is right.
losing_joins() {
  for keys in person:id padded:id loud:name shouted:name '(shouted, person):(name, id)'; do
    echo "$keys"
    gain "visits.${keys%:*}" "people.${keys#*:}" | grep 'facts match:\|ROWS\|loses rows\|not searched\|^[0-9|]*$' | sed '/^2500|2500$/d; /^50000|50000$/d'
  done
}
# SQLite can search neither side of these keys but by the facts' rowid.
left_out() { gain orders.id customers.code | grep '^Left out\|^  LEFT JOIN'; }
sampled() { GAIN_SAMPLE=1010 gain even_orders.code customers.code "country = 'NZ'" id | grep 'facts match:\|^count'; }
# It measures by the clock there, and a busy machine makes it take a sample.
in_place() ( rounds=3; GAIN_COPY_MB=0 gain orders.code customers.code "country = 'NZ'" | sed '/^100000|100000$/d; /megabytes/d; /MB/d; s/^ *[0-9]* facts, /  N facts, /; s/^[0-9]* of [0-9]* facts match.*/N facts match/; s/^[0-9.]* %/N %/'; )
mistaken() { { gain orders.code customers.kode; gain orders 'customers.code'; gain 'orders.(id, code)' customers.code; } 2>&1 | grep '^gain:'; }

if [ "${1-}" != gain ]; then
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
  check examples/shell/searched_log.expected sh examples/shell/searched_log.sh
  check examples/shell/four_conditions.expected sh examples/shell/four_conditions.sh
  check /dev/null agents
  check examples/bloomfile/which_logs.expected sh examples/bloomfile/which_logs.sh
fi

check examples/shell/gain.few_match.expected few_match
check examples/shell/gain.all_match.expected all_match
check examples/shell/gain.loses_rows.expected loses_rows
check examples/shell/gain.losing_joins.expected losing_joins
check examples/shell/gain.left_out.expected left_out
check examples/shell/gain.sampled.expected sampled
check examples/shell/gain.in_place.expected in_place
check examples/shell/gain.mistaken.expected mistaken

echo "$num_passed passed, $num_failed failed"
[ "$num_failed" -eq 0 ]
