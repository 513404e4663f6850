#!/bin/sh
# Shows: four shards of a table, each a database of its own, build their filters at
# the same time; the union of these is the filter of the whole table.
# Run, from the top of the project, after `make`:  sh examples/shell/shards.sh
# What it prints is in shards.expected.
set -eu
cd "$(dirname "$0")/../.."
sqlite="${SQLITE3:-sqlite3} -batch -bail"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Equal capacity and bits_per_key, the third and second argument, make filters of one
# shape, which merge.  The capacity is that of the whole, not of a shard.
build_shard() {
  $sqlite "$work/shard$1.db" <<END
.load ./bloom
CREATE TABLE visit(visitor TEXT);
INSERT INTO visit SELECT 'visitor ' || (value * 4 + $1) FROM generate_series(1, 25000);
CREATE TABLE shipped AS SELECT $1 AS shard, count(*) AS num_keys, bloom_build(visitor, 12, 100000) AS filter FROM visit;
END
}
processes=
for shard in 0 1 2 3; do
  build_shard $shard &
  processes="$processes $!"
done
for process in $processes; do wait "$process"; done

$sqlite "$work/whole.db" <<END
.load ./bloom
ATTACH '$work/shard0.db' AS shard0;
ATTACH '$work/shard1.db' AS shard1;
ATTACH '$work/shard2.db' AS shard2;
ATTACH '$work/shard3.db' AS shard3;
CREATE TABLE shards(shard INTEGER, num_keys INTEGER, filter BLOB);
INSERT INTO shards
  SELECT * FROM shard0.shipped UNION ALL SELECT * FROM shard1.shipped UNION ALL
  SELECT * FROM shard2.shipped UNION ALL SELECT * FROM shard3.shipped;
CREATE TABLE merged AS SELECT bloom_merge(filter) AS filter FROM shards;

.print shard, keys, bytes, fill:
SELECT shard, num_keys, num_bytes, printf('%.2f', fill_ratio) FROM shards s, bloom_info(s.filter);
.print the union: keys by its fill, bytes, fill, false positives:
SELECT printf('%.0f', estimated_keys), num_bytes, printf('%.2f', fill_ratio), printf('%.2f %%', 100 * measured_fpr)
  FROM merged m, bloom_info(m.filter);
.print the same bytes as one filter built over all four tables:
SELECT (SELECT bloom_build(visitor, 12, 100000) FROM
    (SELECT * FROM shard0.visit UNION ALL SELECT * FROM shard1.visit UNION ALL
     SELECT * FROM shard2.visit UNION ALL SELECT * FROM shard3.visit)) = filter FROM merged;
.print shards to ask for visitor 777, and for one who was never there:
SELECT group_concat(shard) FROM shards WHERE bloom_may_contain(filter, 'visitor 777');
SELECT count(*) FROM shards WHERE bloom_may_contain(filter, 'visitor x');
END
