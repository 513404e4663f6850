#!/bin/sh
# Shows: one log and four conditions, a time, a trace, a piece of text and a pattern: what each
# of them reads through a bloom_index, and what all of them read in one query.
# Run, from the top of the project, after `make`:  sh examples/shell/four_conditions.sh
# What it prints is in four_conditions.expected.
set -eu
cd "$(dirname "$0")/../.."
sqlite="${SQLITE3:-sqlite3} -batch -bail"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Ten rows a second. Ten traces at a time have five rows each, one a second.
$sqlite "$work/log.db" <<END
.load ./bloom
CREATE TABLE log(id INTEGER PRIMARY KEY, ts INTEGER, trace_id TEXT, message TEXT);
INSERT INTO log SELECT value, 1790000000 + value / 10, printf('%016x', (value / 50 * 10 + value % 10) * 9871234567),
  CASE value * 7919 % 5
    WHEN 0 THEN printf('upstream timeout after %d ms, request %x', value * 31 % 5000, value * 611953)
    WHEN 1 THEN printf('upstream timeout %d ms, request %x', value * 37 % 5000, value * 611953)
    WHEN 2 THEN printf('upstream answered in %d ms, request %x', value * 41 % 900, value * 611953)
    WHEN 3 THEN printf('user %d signed in with session %x', value * 7919 % 1000, value * 104729)
    ELSE printf('sent %d bytes to 10.7.%d.%d', value * 13, value % 251, value % 241) END
 FROM generate_series(1, 300000);
CREATE VIRTUAL TABLE log_index USING bloom_index(log, ts RANGE, trace_id, message LIKE REGEXP);
INSERT INTO log_index(log_index) VALUES ('merge');
END

# An hour, one of 60,000 traces, and two ways of saying what the message has.
time='ts BETWEEN 1790010800 AND 1790014399'
trace="trace_id = (SELECT trace_id FROM log WHERE id = 123455)"
text="message LIKE '%request %'"
pattern="message REGEXP 'upstream timeout (after )?[0-9]+ ms'"

# asks TABLE WHAT CONDITION: how many rows there are, and the pages that a fresh connection reads, in
# full tens, since SQLite's versions differ by one.
asks() {
  $sqlite "$work/log.db" >"$work/said" <<END
.load ./bloom
.stats on
SELECT 'rows: ' || count(*) FROM $1 WHERE $3;
END
  rows=$(sed -n 's/^rows: //p' "$work/said")
  pages=$(sed -n 's/^Page cache misses: *//p' "$work/said")
  printf '%-20s %6d rows, up to %4d pages\n' "$2" "$rows" $(((pages + 9) / 10 * 10))
}

asks log 'the table, all four' "$time AND $trace AND $text AND $pattern"
echo 'through the bloom_index:'
asks log_index 'time' "$time"
asks log_index 'trace' "$trace"
asks log_index 'text' "message LIKE '%request 11987d4%'"
asks log_index 'pattern' "message REGEXP 'timeout (after )?1497 ms, request 11[0-9a-f]+d4'"
asks log_index 'time and trace' "$time AND $trace"
asks log_index 'all four' "$time AND $trace AND $text AND $pattern"

$sqlite "$work/log.db" <<END
.load ./bloom
.eqp on
SELECT id, message FROM log_index WHERE $time AND $trace AND $text AND $pattern;
END
