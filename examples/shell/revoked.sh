#!/bin/sh
# Shows: the filter of a 100 MB table shipped to a client, 1 MB, as a file.  The
# client pre-screens offline, and asks the server only about what is left.
# Run, from the top of the project, after `make`:  sh examples/shell/revoked.sh
# What it prints is in revoked.expected.
set -eu
cd "$(dirname "$0")/../.."
sqlite="${SQLITE3:-sqlite3} -batch -bail"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The server has 800,000 revoked certificates.  A filter in a file is the same bytes
# as in a column: LevelDB's filter, which any program can read (ext/FORMATS.md).
# bloom_bits_per_key(0.013, 800000) says that 10 bits a key let 1.3 % through.
$sqlite "$work/server.db" <<END
.load ./bloom
CREATE TABLE revoked(serial TEXT PRIMARY KEY, reason TEXT, proof BLOB) WITHOUT ROWID;
INSERT INTO revoked SELECT printf('%08x', value), 'key lost', zeroblob(85) FROM generate_series(1, 800000);
SELECT 'filter written, ' || writefile('$work/revoked.bloom', bloom_build(serial, 10)) || ' bytes' FROM revoked;
SELECT 'the server''s table, ' || (page_count * page_size / 1000000) || ' MB'
  FROM pragma_page_count, pragma_page_size;
END

# The client has the file, 10,000 certificates to check, 100 of them revoked, and
# no connection.  readfile() is the shell's; a program binds the bytes it has read.  Without
# the file nothing is trusted: a filter that is NULL may contain every key.
$sqlite "$work/client.db" <<END
.load ./bloom
CREATE TABLE certificate(serial TEXT PRIMARY KEY);
INSERT INTO certificate SELECT printf('%08x', value * 8000) FROM generate_series(1, 100);
INSERT INTO certificate SELECT printf('%08x', value + 5000000) FROM generate_series(1, 9900);
CREATE TABLE ask_server AS SELECT serial FROM certificate
 WHERE bloom_may_contain((SELECT bloom_open(readfile('$work/revoked.bloom'))), serial);
SELECT 'the client trusts ' || (count(*) - (SELECT count(*) FROM ask_server)) || ' of ' || count(*)
  || ' certificates without asking' FROM certificate;
END

# Back online: the server decides about the rest.
$sqlite "$work/server.db" <<END
ATTACH '$work/client.db' AS client;
SELECT 'the server is asked about ' || count(*) || ' and refuses ' || count(reason)
  FROM client.ask_server LEFT JOIN revoked USING (serial);
SELECT 'revoked certificates that the filter accepted: ' || count(*)
  FROM client.certificate JOIN revoked USING (serial)
 WHERE serial NOT IN (SELECT serial FROM client.ask_server);
END
