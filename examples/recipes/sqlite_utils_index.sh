#!/bin/sh
# A recipe for sqlite-utils: a big log, searched through a bloom_index by --load-extension.  Programs
# that write the log need no extension.  Tested with sqlite-utils 3.30, which Debian 12 has.
#
# Run, from anywhere, after `make`:  sh examples/recipes/sqlite_utils_index.sh
# What it prints is in index.expected, as for every recipe of its kind here.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
db=$work/log.db

# REGEXP is what --functions says that it is.
regexp='
import re
def regexp(pattern, text):
    return None if text is None else re.search(pattern, text) is not None
'
run() { sqlite-utils query "$db" --load-extension ./bloom "$1" >/dev/null; }

/usr/bin/python3 - >"$work/log.csv" <<'END'
print("id,trace_id,message")
for i in range(1, 20001):
    print(f'{i},{i * 2654435761 % 2**64:016x},"request {i} timed out, 100% of 5_000 ms"')
END
sqlite-utils create-table "$db" log id integer trace_id text message text --pk id
sqlite-utils insert "$db" log "$work/log.csv" --csv --silent
run 'CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace_id, message LIKE REGEXP)'
run "INSERT INTO log_index(log_index) VALUES ('merge')"

# A % or _ in a text is a wildcard: where it is to stand for itself, a second check says so.
rows() {
  sqlite-utils query "$db" --load-extension ./bloom --functions "$regexp" --raw \
    "SELECT coalesce(group_concat(id, ', '), 'nothing') FROM (SELECT id FROM log_index WHERE $1 ORDER BY id)"
}
trace_of() { printf "%016x" $(($1 * 2654435761)); }
is_pruned() { sqlite-utils query "$db" --load-extension ./bloom "EXPLAIN QUERY PLAN SELECT id FROM log_index WHERE $1" | grep -qE 'VIRTUAL TABLE.*(message|trace_id)'; }

by_key="trace_id = '$(trace_of 4711)'"
by_text="message LIKE '%request 12345 %'"
by_both="message LIKE '%timed out, 100%%' AND instr(message, 'timed out, 100%') AND trace_id = '$(trace_of 815)'"
echo "a key: $(rows "$by_key")"
echo "a piece of text: $(rows "$by_text")"
echo "text and key, % for itself: $(rows "$by_both"); 5%000: $(rows "message LIKE '%5%000%' AND instr(message, '5%000')")"
echo "a pattern: $(rows "message REGEXP '^request 1777[0-2] timed (in|out)'")"
is_pruned "$by_key" && is_pruned "$by_text" && is_pruned "$by_both" && pruned=True || pruned=False
echo "all by the index: $pruned"
echo '{"trace_id": "new", "message": "request 20001 timed out"}' | sqlite-utils insert "$db" log -
echo "a row that nobody merged: $(rows "message LIKE '%request 20001 %'")"
