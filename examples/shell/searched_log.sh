#!/bin/sh
# Shows: a log that one program writes, without the extension, and another one searches,
# with it: by key and by message, reading only blocks of rows that can have what is asked.
# Run, from the top of the project, after `make`:  sh examples/shell/searched_log.sh
# What it prints is in searched_log.expected.
set -eu
cd "$(dirname "$0")/../.."
sqlite="${SQLITE3:-sqlite3} -batch -bail"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Once, by somebody who has the extension.
$sqlite "$work/log.db" <<END
.load ./bloom
CREATE TABLE log(id INTEGER PRIMARY KEY, trace_id TEXT, user_id INTEGER, message TEXT);
CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace_id, user_id, message LIKE);
END

# write FIRST LAST: the program that writes knows plain SQLite only.
write() {
  $sqlite "$work/log.db" <<END
INSERT INTO log SELECT value, printf('%016x', value * 2654435761 % 4294967296 * 4294967291), value * 7919 % 1000,
  CASE value % 4
    WHEN 0 THEN printf('GET /orders/%d took %d ms', value * 31 % 900001, value * 7 % 300)
    WHEN 1 THEN printf('user %d signed in with session %x', value * 7919 % 1000, value * 104729)
    WHEN 2 THEN printf('cache miss for key %x, loaded in %d ms', value * 611953, value % 90)
    ELSE printf('sent %d bytes to 10.7.%d.%d', value * 13, value % 251, value % 241) END
 FROM generate_series($1, $2);
UPDATE log SET message = 'connection time_out, retried 3 times' WHERE id = $1 + 500;
DELETE FROM log WHERE id = $1 + 501;
END
}

# The one that searches takes new rows into the index when it likes.
write 1 200000
$sqlite "$work/log.db" <<END
.load ./bloom
INSERT INTO log_index(log_index) VALUES ('merge');
.print merged rows, and bytes a row that the index takes:
SELECT merged, bytes / merged FROM bloom_index_info('log_index');
END

# Rows that were written since the last merge are found as well, and so are changed ones.
write 200001 201000
$sqlite "$work/log.db" <<END
.load ./bloom
UPDATE log SET message = 'moved: ' || message WHERE id = 77;
.print by key:
SELECT id, message FROM log_index WHERE trace_id = (SELECT trace_id FROM log WHERE id = 123456);
.print by message:
SELECT id, message FROM log_index WHERE message LIKE '%time_out%' AND instr(message, 'time_out');
SELECT id, message FROM log_index WHERE message LIKE 'moved:%';
SELECT id, message FROM log_index WHERE message GLOB '*/orders/22713[0-9] *';
.print by both, the newest two:
SELECT id, message FROM log_index WHERE user_id = 763 AND message LIKE '%signed in%' ORDER BY id DESC LIMIT 2;
.print which conditions the index serves:
.eqp on
SELECT count(*) FROM log_index WHERE user_id = 763 AND message LIKE '%signed in%';
.eqp off
.print found in the index, and in the table itself:
SELECT (SELECT count(*) FROM log_index WHERE message LIKE '%session 5f%'), (SELECT count(*) FROM log WHERE message LIKE '%session 5f%');
.print after another merge: merged rows, changed ones, what speaks against the index
INSERT INTO log_index(log_index) VALUES ('merge');
INSERT INTO log_index(log_index) VALUES ('integrity-check');
SELECT merged, changed, note FROM bloom_index_info('log_index');
END
