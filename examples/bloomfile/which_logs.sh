#!/bin/sh
# Shows: which of 32 daily logs can a visitor be in?  SQL writes one file for all of them; a
# C program without SQLite (which_logs.c) maps it into memory and answers for the 32 logs in
# one pass.  The same look-up in SQL must return the same.
# Run, from anywhere, after `make`; needs a C compiler and xxhash.h:
#     sh examples/bloomfile/which_logs.sh
# What it prints is in which_logs.expected.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck disable=SC2086 # CC may be several words
${CC:-cc} -std=c11 -O2 ${CFLAGS--Wall -Wextra -Wpedantic} -o "$work/which_logs" examples/bloomfile/which_logs.c

sql() { ${SQLITE3:-sqlite3} -batch -bail -cmd '.load ./bloom' "$work/logs.db"; }

sql <<EOF
CREATE TABLE visits(day INTEGER, visitor TEXT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 319999)
INSERT INTO visits SELECT i % 32, 'visitor ' || (i * 7919 % 200003) FROM n;
SELECT count(*) || ' visits, ' || writefile('$work/logs.bloom', bloom_build_sets(day, visitor)) || ' bytes' FROM visits;
EOF

sql >"$work/keys" <<EOF
SELECT 'visitor ' || value FROM generate_series(0, 5000);
SELECT 'stranger ' || value FROM generate_series(0, 5000);
EOF

"$work/which_logs" "$work/logs.bloom" <"$work/keys" >"$work/by_c"
sql >"$work/by_sql" <<EOF
CREATE TEMP TABLE keys(k);
.import '$work/keys' keys
SELECT k || coalesce(' ' || group_concat(set_number, ' '), '')
FROM keys LEFT JOIN bloom_sets((SELECT bloom_open(readfile('$work/logs.bloom'))), k) GROUP BY keys.rowid;
EOF

sed -n 's/^visitor [0-4] /&/p' "$work/by_c"
cmp "$work/by_c" "$work/by_sql"
echo "$(wc -l <"$work/keys") keys asked for 32 logs, in C and in SQL: the same answers"
awk '/^stranger/ {num_keys++; num_logs += NF - 2} END {printf "of the strangers %.2f %% may be in a log\n", 100 * num_logs / num_keys / 32}' "$work/by_c"
