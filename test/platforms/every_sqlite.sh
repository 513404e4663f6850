#!/bin/sh
# Tests the extension on other versions of SQLite: sh test/platforms/every_sqlite.sh [VERSION ...], at
# the top of the checkout, after `make`. Ends with `N passed, N failed`.
#
# The same files run on each: the SQL tests, the query plans, the ready-made SQL, changes of the
# schema, and filters written under one version and read under every other; on the newest, README and
# the examples too. A test file NAME_3_39.test needs SQLite 3.39. Versions that the
# extension does not support must refuse it, and not crash; but they write to tables that have filters
# and indexes.
. test/lib/shared.sh
find_python
newest=3.54.1
supported=${*:-3.31.1 3.44.2 3.52.0 $newest}
unsupported=3.9.1
old_writer=$unsupported
write=test/platforms/machines/write_filters.sql
read=test/platforms/machines/read_filters.sql
work=build/every_sqlite
rm -rf $work && mkdir -p $work || exit 1
sh test/lib/build_sqlite.sh $supported $unsupported || exit 1
make build/release/test/faults/load/load || exit 1

# Sets files and num_left_out for SQLite $1, such as 3.31.1.
choose_files() {
  files='' num_left_out=0
  minor=${1#3.}
  minor=${minor%%.*}
  for file in test/sql/records/*.test; do
    needed=$(expr "$file" : '.*_3_\([0-9]*\)\.test$')
    if [ "${needed:-0}" -gt "$minor" ]; then num_left_out=$((num_left_out + 1)); else files="$files $file"; fi
  done
}

# shell VERSION ...: its sqlite3 with the extension loaded.
shell() {
  case $1 in system) program=sqlite3 ;; *) program=build/sqlite/$1/sqlite3 ;; esac
  shift
  $program -bail -cmd '.load ./bloom' "$@"
}

# on VERSION COMMAND ...: its shell and its library in place of the system's.
on() {
  folder=$PWD/build/sqlite/$1
  shift
  env PATH="$folder:$PATH" LD_LIBRARY_PATH="$folder" "$@"
}
is_on() {
  on "$1" sqlite3 -version | grep "^$1 " &&
    [ "$(on "$1" "$PYTHON" -c 'import sqlite3; print(sqlite3.sqlite_version)')" = "$1" ]
}

writes() { shell "$1" $work/"$1".db <$write; }

# What the system's SQLite says of its own filters is expected of all.
describes_its_own() { shell system $work/system.db <$read >$work/expected && [ "$(wc -l <$work/expected)" -gt 50 ]; }

# reads READER WRITER
reads() { shell "$1" $work/"$2".db <$read >$work/got && cmp $work/got $work/expected; }

# An error, no crash, and the connection goes on.
refuses() {
  message=$(build/sqlite/"$1"/sqlite3 :memory: '.load ./bloom' 2>&1)
  status=$?
  echo "exit status $status: $message"
  [ $status -lt 128 ] && expr "$message" : "Error: .*bloom needs SQLite 3.31.0 or newer, this is $1\$" &&
    [ "$(printf '.load ./bloom\nSELECT 6 * 7;\n' | build/sqlite/"$1"/sqlite3 :memory: 2>/dev/null)" = 42 ]
}

# A program of long ago writes to tables that a filter and an index follow, and both know it.
writes_for_us() {
  file=$work/old-$1.db
  sqlite3 -bail -cmd '.load ./bloom' "$file" "
    CREATE TABLE people(id TEXT PRIMARY KEY, email TEXT, country TEXT);
    INSERT INTO people VALUES ('1', 'ada@example.org', 'DE'), ('2', 'bob@example.org', 'FR'), ('3', 'eve@example.org', NULL);
    CREATE VIRTUAL TABLE people_email USING bloom(people, email);
    CREATE VIRTUAL TABLE people_pair USING bloom(people, (id, country));
    CREATE TABLE log(id INTEGER PRIMARY KEY, trace TEXT, message TEXT, ts INTEGER);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO log SELECT i, 'trace ' || i, 'request ' || i || ' timed out', i FROM n;
    CREATE VIRTUAL TABLE log_index USING bloom_index(log, trace, message LIKE REGEXP, ts RANGE);
    INSERT INTO log_index(log_index) VALUES ('merge');" &&
  build/sqlite/"$1"/sqlite3 -bail "$file" "
    INSERT INTO people VALUES ('4', 'new@example.org', 'NZ');
    INSERT OR REPLACE INTO people VALUES ('2', 'bobby@example.org', 'CH');
    UPDATE people SET email = 'moved@example.org', country = 'IS' WHERE id = '3';
    DELETE FROM people WHERE id = '1';
    INSERT INTO log(trace, message, ts) VALUES ('new', 'from afar', 9000);
    UPDATE log SET message = 'another text' WHERE id = 7;
    UPDATE log SET id = 7000 WHERE id = 8;
    DELETE FROM log WHERE id = 9;
    VACUUM;" &&
  [ "$(sqlite3 -bail -cmd '.load ./bloom' "$file" "
    SELECT (SELECT count(*) FROM people_email('new@example.org')), (SELECT count(*) FROM people_email('bobby@example.org')),
      (SELECT count(*) FROM people_email('moved@example.org')), (SELECT count(*) FROM people_pair('4', 'NZ')), (SELECT count(*) FROM people_pair('3', 'IS'));
    SELECT group_concat(id) FROM log_index WHERE trace IN ('new', 'trace 8', 'trace 9');
    SELECT group_concat(id) FROM log_index WHERE message LIKE '%another text%' OR ts BETWEEN 8999 AND 9001;
    INSERT INTO log_index(log_index) VALUES ('merge'), ('integrity-check');
    INSERT INTO people_email(people_email) VALUES ('integrity-check'), ('merge'), ('integrity-check');" | tr '\n' ' ')" = '1|1|1|1|1 3001,7000 7,3001 ' ]
}

for version in $supported; do
  package=build/sqlite/$version/tclsqlite3.so
  choose_files "$version"
  adds_up "SQL on $version" tclsh test/sql/runner/sqllogictest.tcl --sqlite "$package" --load ./bloom $files
  records=$passed
  adds_up "query plans on $version" tclsh test/sql/plans.tcl ./bloom "$package"
  adds_up "ready-made SQL on $version" tclsh test/sql/ready_made.tcl ./bloom "$package"
  ready_made=$passed
  adds_up "filters that stay up to date, every change, on $version" on "$version" "$PYTHON" test/vtab/not_in_the_way.py --only every_change
  adds_up "what others do to the schema, on $version" on "$version" "$PYTHON" test/vtab/running.py --only another_connection
  adds_up "loading on $version" on "$version" build/release/test/faults/load/load ./bloom.so
  loading=$passed
  adds_up "clients on $version" on "$version" sh examples/clients/test.sh --made shell python_sqlite3 c_api
  # Before 3.35 there is no MATERIALIZED, and gain.sh writes its forms without it.
  case $version in 3.[12]?.* | 3.3[0-4].*) adds_up "gain.sh on $version" on "$version" sh examples/test.sh gain ;; esac
  echo "note: SQLite $version: $records SQL records, $ready_made checks of ready-made SQL, $loading of loading; files left out: $num_left_out"
done

for writer in system $supported; do check "$writer writes filters" writes "$writer"; done
check 'the system reads its own' describes_its_own
num_pairs=0
for reader in system $supported; do
  for writer in system $supported; do
    check "filters written by $writer, read by $reader" reads "$reader" "$writer"
    num_pairs=$((num_pairs + 1))
  done
done
echo "note: filters of each version read under each: $num_pairs pairs, $(grep -c '|' $work/expected) lines of answers and bytes compared in each"

# The pages show what the newest prints: older shells print other plans, errors and columns.
case " $supported " in *" $newest "*)
  check "shell and library are SQLite $newest" is_on "$newest"
  adds_up "README on $newest" on "$newest" tclsh test/docs/readme.tcl
  adds_up "examples on $newest" on "$newest" sh examples/test.sh
  adds_up "clients on $newest" on "$newest" sh examples/clients/test.sh --made quick
esac

for version in $unsupported; do
  check "SQLite $version refuses the extension, says why and goes on" refuses "$version"
done
check "SQLite $old_writer writes to tables that filters and indexes follow" writes_for_us "$old_writer"
finish
