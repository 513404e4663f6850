#!/bin/sh
# The main job on real input (`make demo`): loads the machine's package index into
# SQLite, builds filters over its columns, pre-screens joins with them, and looks up
# which of many partitions can hold a key. The SQL is in sql/; this script calls
# it, measures, and stops with a non-zero status if a result differs.
#
# BLOOM_DEMO_DATA=snapshot takes the index in data/ instead of this machine's;
# BLOOM_DEMO_DATA=machine insists on this machine's.
# BLOOM_DEMO_RUNS=N times each query N times in place of 5.
# Needs: sqlite3 (a shell that can load extensions), awk, gzip.
set -eu
LC_ALL=C
export LC_ALL
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
cd "$here/../.."
sql=examples/packages/sql
out=build/demo
db=$out/packages.db
num_runs=${BLOOM_DEMO_RUNS:-5}
started=$(date +%s)

stop() {
  echo "demo: $*" >&2
  exit 1
}

# Runs sqlite3 on a script from stdin; no start-up file of the user's interferes.
run_sql() {
  { echo ".load ./bloom"; cat; } | sqlite3 -batch -bail -init /dev/null "$db"
}

# Progress: says what begins; `finish` adds how long it took.
begin() {
  printf '%s ... ' "$1"
  begun=$(date +%s)
}
finish() {
  echo "done ($(($(date +%s) - begun)) s)"
}
heading() {
  printf '\n== %s\n\n' "$1"
}
# The query itself, without its comment lines.
show() {
  sed -e '/^--/d' -e 's/^/    /' "$1"
}

for program in sqlite3 awk gzip; do
  command -v $program > /dev/null || stop "needs the program '$program'"
done
[ -f bloom.so ] || [ -f bloom.dylib ] || stop "no ./bloom.so here; run 'make' first"
sqlite3 -batch -init /dev/null :memory: ".load ./bloom" "SELECT bloom_version();" > /dev/null ||
  stop "this sqlite3 cannot load ./bloom (see the line above)"
case $num_runs in
*[!0-9]* | 0) stop "BLOOM_DEMO_RUNS is '$num_runs'; it is a number from 1 on" ;;
esac
mkdir -p $out

# -- Data ---------------------------------------------------------------------

heading "1. Real data: which package needs which"

# $out/index.tsv from this machine's package index; fails where there is none.
read_machine_index() {
  command -v apt-cache > /dev/null || return 1
  apt-cache dumpavail 2> /dev/null | awk -f examples/packages/extract.awk | sort > $out/index.tsv
  [ "$(awk 'END { print NR }' $out/index.tsv)" -ge 5000 ]
}

source=${BLOOM_DEMO_DATA-}
case $source in
'' | machine)
  begin "Reading this machine's package index (apt-cache)"
  if read_machine_index; then
    finish
    source=machine
  elif [ "$source" = machine ]; then
    echo "none"
    stop "this machine has no package index; try 'apt-get update' first"
  else
    echo "none here, so the one that comes along (Debian 12)"
    source=snapshot
  fi
  ;;
snapshot) ;;
*) stop "BLOOM_DEMO_DATA is '$source'; it can be 'machine' or 'snapshot'" ;;
esac

if [ $source = snapshot ]; then
  begin "Unpacking the package index of Debian 12 that comes along"
  gzip -dc examples/packages/data/packages.tsv.gz > $out/index.tsv
  # A standard Debian system has the packages of these priorities.
  awk -F '\t' '$3 ~ /^(required|important|standard)$/ { print $1 }' $out/index.tsv > $out/installed.tsv
  finish
else
  # "ii": wanted and installed; not what was removed and left its settings.
  dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' | awk '$1 == "ii" { print $2 }' | sort -u > $out/installed.tsv
fi

begin "Loading it into $db"
awk -v packages=$out/packages.tsv -v needs=$out/needs.tsv -f examples/packages/split_needs.awk $out/index.tsv
rm -f $db
run_sql < $sql/load.sql > /dev/null
rm -f $out/index.tsv $out/packages.tsv $out/needs.tsv $out/installed.tsv
finish
run_sql < $sql/counts.sql

# -- Filters ------------------------------------------------------------------

heading "2. Filters: small stand-ins for a column of keys"

begin "Building four with bloom_build(column), stored in the table 'filters'"
run_sql < $sql/filters.sql
finish
run_sql < $sql/show_filters.sql
cat <<'TEXT'
A filter answers "is this key among yours?" with "no, surely" or "maybe".
The names and numbers of the packages of 100 MB or more are keys below.
TEXT

# -- Joins --------------------------------------------------------------------

# time_forms FOLDER/NAME: runs NAME_plain.sql and NAME_screened.sql in turn, each
# $num_runs times; marks each run for table.awk.
time_forms() {
  {
    run=0
    echo .timer on
    while [ $run -lt "$num_runs" ]; do
      for form in plain screened; do
        printf '.print @%s\n.read %s\n' $form $sql/$1_$form.sql
      done
      run=$((run + 1))
    done
  } | run_sql
}

# What a query of one row gives, its columns parted by commas.
numbers() {
  { echo '.separator ,'; cat $sql/$1; } | run_sql
}

# join NAME: measures sql/joins/NAME_plain.sql and NAME_screened.sql, prints the table.
join() {
  begin "Running each form $num_runs times in turn"
  for form in plain screened; do
    printf '.eqp on\n.stats on\n.read %s\n' $sql/joins/$1_$form.sql | run_sql > $out/$1_$form.txt
    # The plan's lines begin with |, ` or a space.
    awk '/^QUERY PLAN/ { inside = 1; next }
         inside && /^[|` ]/ { print "    " $0; next }
         { inside = 0 }' $out/$1_$form.txt > $out/$1_$form.plan
  done
  time_forms joins/$1 > $out/$1.txt
  # What NAME_rows.sql counts holds where "large" is the last table looked into;
  # another SQLite may plan otherwise, and then the times speak alone.
  rows=
  if [ -f $sql/joins/$1_rows.sql ] && ! head -n 1 $out/$1_plain.plan | grep -q ' large'; then
    rows=$(numbers joins/$1_rows.sql)
  fi
  finish
  echo "  Plan, plain:"
  cat $out/$1_plain.plan
  echo "  Plan, pre-screened:"
  cat $out/$1_screened.plan
  echo
  awk -v rows="$rows" -v own_plain="$(spared $1_plain)" -v own_screened="$(spared $1_screened)" -v kind="$1" \
    -f examples/packages/table.awk $out/$1.txt ||
    stop "the pre-screened join '$1' gave another result than the plain one (see $out/$1.txt)"
}

# Look-ups that SQLite's own join filter made needless, by its own count.
spared() {
  awk -F '[:/]' '/^Bloom filter bypass/ { n = $2 } END { print n + 0 }' $out/$1.txt
}

heading "3. A join on text keys, plain and pre-screened"
cat <<'TEXT'
Which packages of 100 MB or more do the Python, Perl, Ruby and JavaScript
packages reach in two steps? Most rows find nothing in the last table: the
filter drops them before the look-up. The pre-screened query, first in WHERE
the line that the plain one lacks:

TEXT
show $sql/joins/text_screened.sql
echo
join text

heading "4. Integer keys: rows without a partner"
cat <<'TEXT'
How many paths of two hard needs end at no package of 100 MB or more? Every
path must be tried, whatever the indexes. The pre-screened query:

TEXT
show $sql/joins/integer_screened.sql
echo
join integer

heading "5. Where to leave the filter out"
cat <<'TEXT'
How many paths do end at such a package? With an index on links(target_id) SQLite
can begin at the few large packages and walk backwards: nothing to screen.

TEXT
join no_gain

# -- Pieces -------------------------------------------------------------------

heading "6. Which of these pieces can hold this key?"

begin "Cutting the needs into pieces of 64 packages, one filter for each"
run_sql < $sql/pieces/build.sql
finish
run_sql < $sql/pieces/counts.sql
cat <<'TEXT'
Who asks for a name? Plain: read all pieces. Pre-screened: ask the filters, read
the pieces that may hold it. "read": bytes that SQLite took from the file, cold.

TEXT
page_bytes=$(echo 'PRAGMA page_size;' | run_sql)

# bytes_read FORM: pages that the query fetched into an empty cache, in bytes.
bytes_read() {
  printf '.stats on\n.read %s\n' $sql/pieces/asked_$1.sql | run_sql > $out/pieces_$1.txt
  awk -v page_bytes="$page_bytes" '/^Page cache misses:/ { n = $4 } END { printf "%d", n * page_bytes }' $out/pieces_$1.txt
}

printf '  %-16s %6s %6s %6s %12s %12s %12s %9s  %s\n' "" may really false "read," "read," "time," "time," results
printf '  %-16s %6s %6s %6s %12s %12s %12s %9s  %s\n' name hold hold alarms plain screened plain screened equal
for name in libc6 libsdl2-2.0-0 sqlite3 gimp libreoffice-core no-such-package; do
  echo "DROP TABLE IF EXISTS asked; CREATE TABLE asked AS SELECT '$name' AS name;" | run_sql
  rows=$(numbers pieces/rows.sql)
  [ "$(echo "$rows" | cut -d , -f 3)" = 0 ] || stop "a filter said no to '$name', which its piece holds"
  time_forms pieces/asked > $out/pieces.txt
  awk -v key="$name" -v rows="$rows" -v bytes_plain="$(bytes_read plain)" -v bytes_screened="$(bytes_read screened)" \
    -f examples/packages/table.awk $out/pieces.txt ||
    stop "asking for '$name' through the filters gave another result (see $out/pieces.txt)"
done
cat <<'TEXT'
"may hold": pieces whose filter said "maybe"; "false alarms": those read in vain.
A piece that holds the name is never missed. Where nearly every piece holds it
(libc6), there is little or nothing to gain.
TEXT

# sets WHAT: runs sql/sets/WHAT_rows.sql and WHAT_file.sql in turn, prints both times, and stops
# if a set that holds a key was not found.
sets() {
  {
    run=0
    echo .timer on
    while [ $run -lt "$num_runs" ]; do
      for form in rows file; do
        printf '.print @%s\n.read %s\n' $form $sql/sets/$1_$form.sql
      done
      run=$((run + 1))
    done
  } | run_sql > $out/sets_$1.txt
  IFS=, read -r held lost pairs << END
$(numbers sets/$1_lost.sql)
END
  [ "$lost" = 0 ] || stop "of $held answers $lost were not found (sql/sets/$1_lost.sql)"
  awk -v held="$held" -v absent=$((pairs - held)) '
    /^@/ { form = substr($0, 2); next }
    /^Run Time:/ { ms[form, ++n[form]] = 1000 * $4; next }
    { found[form] = $1 }
    function median(form,    i, j, t) {
      for (i = 2; i <= n[form]; i++)
        for (j = i; j > 1 && ms[form, j - 1] > ms[form, j]; j--) { t = ms[form, j]; ms[form, j] = ms[form, j - 1]; ms[form, j - 1] = t }
      return ms[form, int((n[form] + 1) / 2)]
    }
    END {
      if (!n["rows"] || n["rows"] != n["file"]) exit 1
      printf "  %-22s %12s %12s\n", "", "may hold it", "time"
      printf "  %-22s %12d %9.1f ms\n", "a filter each", found["rows"], median("rows")
      printf "  %-22s %12d %9.1f ms\n", "BloomFile", found["file"], median("file")
      printf "  %d hold it really, and all of these were found. The other maybes are wrong.\n", held
      false_alarms = found["rows"] - held
      if (false_alarms)
        printf "  A filter each has %d wrong ones: about 1 in %d of the %d pairs of a key\n" \
               "  and a set without it.\n", false_alarms, absent / false_alarms + 0.5, absent
    }' $out/sets_$1.txt || stop "no times measured for '$1' (see $out/sets_$1.txt)"
}

cat <<'TEXT'

Many names, and only the question which pieces can hold them: a filter for each
piece, tested one by one, and one BloomFile, which answers for all pieces at once.
A BloomFile holds the filters of many sets side by side: all their first bits, then
all their second bits, and so on. So one look at a key's bits answers for every set.
Each set in it gets as much room as the largest, so large pieces would make it large:
a piece of more than 128 names becomes several sets, each of 128 names at most.

TEXT
run_sql < $sql/sets/build_pieces.sql
sets pieces

# Debian's package manager keeps a list of paths for each package.
num_lists=$(ls /var/lib/dpkg/info/*.list 2> /dev/null | wc -l)
if [ $source = machine ] && [ "$num_lists" -ge 50 ]; then
  heading "7. Which installed packages may own this path?"
  begin "Reading dpkg's lists of files"
  awk '{ package = FILENAME; sub(/.*\//, "", package); sub(/\.list$/, "", package); print package "\t" $0 }' \
    /var/lib/dpkg/info/*.list | grep -v '"' > $out/owned.tsv
  run_sql < $sql/sets/build_owners.sql > $out/owners.txt
  rm -f $out/owned.tsv
  finish
  cat $out/owners.txt
  sets owners
fi

# -- Pieces of text ---------------------------------------------------------------

if [ $source = machine ]; then
  heading "8. Which descriptions have these words in them?"
  # Parted as .mode ascii has it, which knows no quotes.
  apt-cache dumpavail | awk '/^Package: / { package = $2 }
    /^Description(-en)?: / { sub(/^[^ ]* /, ""); printf "%d\037%s\037%s\036", ++n, package, $0 }' > $out/descriptions.txt
  run_sql < $sql/descriptions/build.sql
  rm -f $out/descriptions.txt
  echo
  printf '  %-28s %8s %12s %12s  %s\n' "line LIKE" packages "table" "bloom_index" "results equal"
  for words in 'bloom filter' 'sqlite3 extension' 'approximate member' 'library'; do
    run=0
    {
      echo .timer on
      while [ $run -lt "$num_runs" ]; do
        for table in descriptions descriptions_index; do
          printf ".print @%s\nSELECT count(*), total(id) FROM %s WHERE line LIKE '%%%s%%';\n" $table $table "$words"
        done
        run=$((run + 1))
      done
    } | run_sql | awk -v words="$words" '
      /^@/ { table = substr($0, 2); next }
      /^Run Time:/ { ms = 1000 * ($6 + $8); if (!(table in least) || ms < least[table]) least[table] = ms; next }
      found == "" { found = $0 }
      $0 != found { differs = 1 }
      END {
        printf "  %-28s %8d %9.1f ms %9.2f ms  %s\n", "'"'%"'" words "'"%'"'", found + 0, least["descriptions"],
               least["descriptions_index"], differs ? "DIFFER" : "yes"
        exit differs + 0
      }' || stop "bloom_index found other descriptions than the table for '$words'"
  done
fi

# -- End ----------------------------------------------------------------------

heading "Done in $(($(date +%s) - started)) s: every pre-screened result equals the plain one"
cat <<TEXT
Go on by yourself:

    sqlite3 $db
    .load ./bloom
    SELECT name, bloom_may_contain(filter, 'bash') FROM filters WHERE keys = 'text';
    SELECT kind, count(*) FROM needs n
      WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'installed_names'), n.target)
        AND n.target IN (SELECT name FROM installed)
      GROUP BY kind;

The queries above are the files in $sql.
TEXT
