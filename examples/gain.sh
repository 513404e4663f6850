#!/bin/sh
# Is a filter worth it for this join, in this database?
#
#     sh examples/gain.sh DB 'facts.key' 'dimension.key' ["condition on the dimension"]
#     sh examples/gain.sh shop.db 'sales.customer_id' 'customers.id' "country = 'FR'"
#     sh examples/gain.sh shop.db 'sales.(store, day)' 'prices.(store, day)'
#
# Measures the join as it is, with the filter that SQLite makes itself once ANALYZE was run,
# with ours kept or built by the query, and with IN.  Prints how many rows match, the times,
# the SQL of the winner and a sentence of advice, within a minute: of many facts it takes a
# sample.
#
# DB is only read (one in WAL mode may get its -wal and -shm files).  Up to GAIN_COPY_MB (1024) megabytes it is copied into a temporary folder,
# which is removed at the end: ANALYZE, which writes, can be tried there alone.
#
# Needs the sqlite3 shell (SQLITE3=... names another) and bloom, built here or installed.
set -eu
LC_ALL=C
export LC_ALL
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
sqlite=${SQLITE3:-sqlite3}
num_rounds=${GAIN_ROUNDS:-3}
sample_rows=${GAIN_SAMPLE:-1000000} # facts, at most
max_scanned=20000000                # facts that the sample is spread over
max_seconds=55                      # for all of it

stop() {
  echo "gain: $*" >&2
  exit 1
}

# What sqlite3 complained about, without the line of what it was given.
reason() {
  sed -n '1s/.* near line [0-9]*: *//; 1p' "$work/error"
}

if [ $# -lt 3 ] || [ $# -gt 4 ]; then
  sed -n '4,6s/^# \{0,5\}//p' "$0" >&2
  exit 2
fi
db=$1
condition=${4-}
[ -f "$db" ] || stop "there is no file $db"
command -v "$sqlite" >/dev/null || stop "needs the program $sqlite"

# -- What is to be joined -----------------------------------------------------

# split WHAT ARGUMENT: table and columns of table.column, or of table.(column, column).
split() {
  case $2 in
    *.\(*\)) table=${2%%.\(*} columns=${2#*.\(} columns=${columns%\)} ;;
    *.*)     table=${2%.*} columns=${2##*.} ;;
    *)       table='' columns='' ;;
  esac
  columns=$(printf '%s' "$columns" | sed 's/^ *//; s/ *$//; s/ *, */,/g')
  [ -n "$table" ] && [ -n "$columns" ] || stop "$1 must be table.column or table.(column, column), not: $2"
}
split 'the second argument' "$2"
facts=$table fact_columns=$columns
split 'the third argument' "$3"
dimension=$table dimension_columns=$columns

# column LIST NUMBER: one of them.
column() {
  printf '%s' "$1" | cut -d , -f "$2"
}
num_columns=$(printf '%s' "$fact_columns" | awk -F , '{ print NF }')
[ "$num_columns" = "$(printf '%s' "$dimension_columns" | awk -F , '{ print NF }')" ] ||
  stop "there must be as many columns on both sides, not $fact_columns and $dimension_columns"

# list COLUMNS: as SQL writes them.  key ALIAS COLUMNS: the columns as one key.  row ALIAS COLUMNS: as a row.
list() {
  printf '%s' "$1" | sed 's/,/, /g'
}
key() {
  keys=$(printf '%s' "$2" | sed "s/^/$1/; s/,/, $1/g")
  if [ "$num_columns" = 1 ]; then echo "$keys"; else echo "bloom_tuple($keys)"; fi
}
row() {
  keys=$(printf '%s' "$2" | sed "s/^/$1/; s/,/, $1/g")
  if [ "$num_columns" = 1 ]; then echo "$keys"; else echo "($keys)"; fi
}
matched=
i=1
while [ $i -le "$num_columns" ]; do
  matched="$matched${matched:+ AND }d.$(column "$dimension_columns" $i) = f.$(column "$fact_columns" $i)"
  i=$((i + 1))
done

# The dimension's rows that pass, and a table of them.
passing="$dimension${condition:+ WHERE $condition}"
if [ -n "$condition" ]; then
  partners="(SELECT $(list "$dimension_columns") FROM $passing) d"
else
  partners="$dimension d"
fi

# -- A place to work in -------------------------------------------------------

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
case $db in /*) ;; *) db=$PWD/$db ;; esac

bloom=libbloom
for extension in so dylib dll; do
  [ ! -f "$here/../bloom.$extension" ] || bloom=$here/../bloom
done
"$sqlite" -batch -init /dev/null :memory: ".load '$bloom'" 'SELECT bloom_version();' >/dev/null 2>"$work/error" ||
  stop "this $sqlite cannot load bloom; run make first ($(reason))"

# limited COMMAND ...: interrupts it when there is no time left, if the system can.
started=$(date +%s)
limited() {
  left=$((max_seconds - $(date +%s) + started))
  [ $left -gt 0 ] || left=1
  if command -v timeout >/dev/null; then timeout -s INT "$left" "$@"; else "$@"; fi
}

file=$db
read_only=-readonly
analyze="ANALYZE $facts; ANALYZE $dimension;"
megabytes=$(($(wc -c <"$db") / 1000000))
if [ $megabytes -le "${GAIN_COPY_MB:-1024}" ]; then
  echo "Copying the database, $megabytes MB, to a temporary folder ..."
  if limited "$sqlite" -readonly -batch -init /dev/null "$db" ".backup '$work/copy.db'" 2>"$work/error"; then
    file=$work/copy.db
    read_only=
  else
    echo "  it cannot be copied ($(reason)): it is read where it is"
  fi
else
  echo "The database has $megabytes MB: it is read where it is, and ANALYZE is not tried (GAIN_COPY_MB=$megabytes copies it)."
fi

# Runs SQL from stdin.  The temporary tables are in memory.
run_sql() {
  { printf ".load '%s'\n.bail on\nPRAGMA temp_store = MEMORY;\nPRAGMA cache_size = -500000;\n" "$bloom"; cat; } |
    limited $sqlite $read_only -batch -init /dev/null "$file"
}

# The processor's time, but where pages may come from a disk the time that passes.
seconds='$6 + $8'
[ -z "$read_only" ] || seconds='$4'

# one SQL: what a statement gives.
one() {
  printf '%s;\n' "$1" | run_sql 2>"$work/error" || stop "$(reason) in: $1"
}

# -- How many rows there are --------------------------------------------------

# sample_step AT-LEAST: the next step without divisors that periods of generated keys often have,
# of which a sample would see one value.
sample_step() {
  awk -v step="$1" 'BEGIN { while (!(step % 2 && step % 3 && step % 5 && step % 7)) step++; print step }'
}

echo 'Counting the rows ...'
step=1
num_keys=$(one "SELECT count(*) FROM $passing")
where=
sample="all rows of $facts"
if range=$(printf 'SELECT min(rowid), max(rowid) FROM %s;\n' "$facts" | run_sql 2>/dev/null) && [ "$range" != '|' ]; then
  first=${range%|*} last=${range#*|}
  if [ $((last - first)) -ge $max_scanned ]; then
    first=$((last - max_scanned + 1))
    where="f.rowid >= $first"
    sample="the last $max_scanned rows of $facts"
  fi
  # What the join takes for an eleventh of the sample says how much there is time for.
  step=$(sample_step $(((last - first) / sample_rows + 1)))
  pilot=$((step * 11))
  pilot="SELECT count(*) FROM $facts f JOIN $partners ON $matched WHERE f.rowid % $pilot = 0${where:+ AND $where};"
  pilot_seconds=$(printf '%s\n.timer on\n%s\n' "$pilot" "$pilot" | run_sql 2>"$work/error" |
    awk "/^Run Time:/ { print $seconds }") || :
  [ -n "$pilot_seconds" ] || stop "$(reason)"
  # A form should take at most 2 s a run.
  step=$(sample_step "$(awk -v step=$step -v seconds="$pilot_seconds" 'BEGIN { print step * (int(seconds * 11 / 2) + 1) }')")
  if [ "$step" -gt 1 ]; then
    where="f.rowid % $step = 0${where:+ AND $where}"
    sample="one in $step of $sample"
  fi
fi
num_facts=$(one "SELECT count(*) FROM $facts f${where:+ WHERE $where}")
echo "  $num_facts facts, $num_keys keys that they are joined with"
[ "$num_facts" -gt 0 ] || stop "there are no rows in $facts"
[ "$num_keys" -gt 0 ] || stop "no row of $passing is there to be joined"

# -- The forms of the query ---------------------------------------------------

# Filters of many keys do better in Parquet's encoding.
encoding=
[ "$num_keys" -le 20000 ] || encoding=", 'parquet'"
build="bloom_build($(key '' "$dimension_columns")$encoding)"
fact_key=$(key f. "$fact_columns")
join="SELECT count(*) FROM $facts f JOIN $partners ON $matched"

# A text as SQL writes it.
literal() {
  printf "'%s'" "$(printf '%s' "$1" | sed "s/'/''/g")"
}

plan() {
  printf 'EXPLAIN QUERY PLAN %s;\n' "$1" | run_sql 2>/dev/null || :
}

# query FORM [CONDITION]: its SQL; the sample's condition, which is cheap, comes first.
query() {
  first=${2:+$2 AND }
  case $1 in
    scan) echo "SELECT count(*) FROM $facts f WHERE $2" ;;
    plain | own) echo "$join${2:+ WHERE $2}" ;;
    kept)  echo "$join WHERE ${first}bloom_may_contain((SELECT bloom_open(filter) FROM join_filters WHERE name = $(literal "$dimension")), $fact_key)" ;;
    built) echo "$join WHERE ${first}bloom_may_contain((SELECT bloom_open($build) FROM $passing), $fact_key)" ;;
    IN)    echo "SELECT count(*) FROM $facts f WHERE $first$(row f. "$fact_columns") IN (SELECT $(list "$dimension_columns") FROM $passing)" ;;
  esac
}

# SQLite's own filter is switched off for the plain form.
form() {
  echo ".print @$1"
  [ "$1" != own ] || [ -n "$read_only" ] || echo "BEGIN; $analyze"
  [ "$1" != plain ] || echo '.testctrl optimizations 0x80000'
  echo '.timer on'
  echo "$(query "$1" "$where");"
  echo '.timer off'
  [ "$1" != plain ] || echo '.testctrl optimizations 0x0'
  [ "$1" != own ] || [ -n "$read_only" ] || echo 'ROLLBACK;'
}

forms='plain own kept built IN'
if [ -n "$read_only" ]; then
  # Statistics that are there already.
  has_stats=$(printf 'SELECT count(DISTINCT tbl) FROM sqlite_stat1 WHERE tbl IN (%s, %s);\n' "$(literal "$facts")" "$(literal "$dimension")" | run_sql 2>/dev/null || echo 0)
  [ "$has_stats" = 2 ] || forms='plain kept built IN'
fi
echo "Measuring $(echo "$forms" | wc -w) forms of the query in turns ..."
# The sample's condition is asked of all rows, which would make all forms look alike: what that
# costs is measured by itself, and taken off.
[ "$step" = 1 ] || forms="scan $forms"
{
  echo 'PRAGMA analysis_limit = 1000;'
  echo 'CREATE TEMP TABLE join_filters(name TEXT PRIMARY KEY, filter BLOB);'
  echo "INSERT INTO join_filters SELECT $(literal "$dimension"), $build FROM $passing;"
  echo '.print @bytes'
  echo 'SELECT length(filter) FROM join_filters;'
  round=0
  while [ $round -le "$num_rounds" ]; do # the first warms up
    for name in $forms; do form $name; done
    round=$((round + 1))
  done
} >"$work/measure.sql"
begun=$(date +%s)
if run_sql <"$work/measure.sql" >"$work/times" 2>"$work/error"; then
  echo "  done in $(($(date +%s) - begun)) s"
elif grep -q '@plain' "$work/times" && { [ ! -s "$work/error" ] || grep -q interrupt "$work/error"; }; then
  echo '  there was time for a part only'
else
  stop "$(reason)"
fi

# -- What came out -------------------------------------------------------------

plain_plan=$(plan "$(query plain "$where")")
: >"$work/winner"
awk -v num_facts="$num_facts" -v num_keys="$num_keys" -v sample="$sample" -v facts="$facts" -v dimension="$dimension" -v step="$step" \
  -v winner_file="$work/winner" -v first_step="$(echo "$plain_plan" | grep -E -m 1 -o '(SCAN|SEARCH) (TABLE )?[^ ]+.*')" '
  BEGIN {
    title["plain"] = "plain"
    title["own"] = "SQLite\047s own filter, after ANALYZE"
    title["kept"] = "bloom, the filter kept"
    title["built"] = "bloom, built by the query"
    title["IN"] = "IN in place of the join"
    num_forms = split("plain own kept built IN", forms, " ")
  }
  /^@/ { form = substr($0, 2); next }
  /^[+-]All/ { next } # newer shells say what .testctrl did
  /^Run Time:/ { if (runs[form]++) ms[form, ++n[form]] = 1000 * ('"$seconds"'); next } # the first run warms up
  form == "bytes" { bytes = $0; next }
  form == "scan" { next }
  /^[0-9]+$/ { if (form in result && result[form] != $0) unequal = 1; result[form] = $0 }
  function median(form,    i, j, t) {
    for (i = 2; i <= n[form]; i++)
      for (j = i; j > 1 && ms[form, j - 1] > ms[form, j]; j--) { t = ms[form, j]; ms[form, j] = ms[form, j - 1]; ms[form, j - 1] = t }
    return ms[form, int((n[form] + 1) / 2)]
  }
  function time_of(form,    t, kept) {
    t = median(form)
    if (n["scan"] && t > median("scan")) t -= median("scan") * (1 - 1 / step)
    # A filter is built once for all rows, not once for a sample.
    if (form == "built" && n["kept"] && t > (kept = time_of("kept"))) t = kept + (t - kept) / step
    return t
  }
  function percent(x) { return sprintf(x >= 0.0995 ? "%.0f %%" : x >= 0.00995 ? "%.1f %%" : "%.2g %%", 100 * x) }
  END {
    if (!n["plain"]) { print "\nThere was no time for a single run: try a table with fewer rows, or GAIN_SAMPLE=100000."; exit }
    if (!unequal) for (form in result) if (form != "IN" && result[form] != result["plain"]) unequal = 1
    share = result["plain"] / num_facts
    printf "\n%s of %s facts match: %s (%s).\n\n", result["plain"], num_facts, percent(share), sample
    printf "  %-38s %10s %8s\n", "", "time", "gain"
    best = "plain"
    for (i = 1; i <= num_forms; i++) {
      form = forms[i]
      if (!n[form]) { printf "  %-38s %10s\n", title[form], "not tried"; continue }
      t = time_of(form)
      remark = ""
      if (result[form] != result["plain"]) remark = form == "IN" ? "  counts a fact once: " result[form] " rows" : "  loses rows: " result[form]
      printf "  %-38s %7.0f ms %7.2fx%s\n", title[form], t, time_of("plain") / (t > 0.5 ? t : 0.5), remark
      if (remark == "" && t < (best == "plain" ? 0.8 : 0.9) * time_of(best)) best = form
    }
    # What costs nothing to keep goes before what has to be kept.
    if (best == "kept" && n["built"] && result["built"] == result["plain"] && time_of("built") < 1.25 * time_of("kept")) best = "built"
    if (best ~ /kept|built/ && n["own"] && time_of("own") < 1.1 * time_of(best)) best = "own"
    if (share > 0.5 && best ~ /kept|built/) best = "plain"
    print best >winner_file
    if (bytes) printf "  The filter of %s keys has %s bytes.\n", num_keys, bytes
    print ""
    if (result["kept"] != result["plain"] && n["kept"])
      advice = "A filter of these keys loses rows, because `=` takes more for equal here than the filter does (types or collations differ): a virtual table, USING bloom, follows its column\047s own rule."
    else if (best == "plain" && first_step !~ /^(SCAN|SEARCH) (TABLE [^ ]+ AS )?f( |$)/)
      advice = "SQLite begins with " dimension " and searches " facts " by an index: a filter has nothing to save."
    else if (share > 0.5 && best ~ /plain|kept|built/)
      advice = percent(share) " match: a filter costs more than it saves."
    else if (best == "plain")
      advice = "The look-ups are cheap here: a filter saves nothing worth its cost."
    else if (best == "own")
      advice = percent(share) " match, and after ANALYZE SQLite does well by itself: run it, and again when the tables have changed much."
    else if (best == "IN")
      advice = percent(share) " match: write IN, if you need no column of " dimension "."
    else if (best == "kept")
      advice = percent(share) " match: a filter keeps the others from being looked up; keep it up to date by a virtual table, USING bloom, if " dimension " changes."
    else
      advice = percent(share) " match: a filter keeps the others from being looked up, and the query can build it, so that there is nothing to keep up to date."
    print advice
  }' "$work/times"

# What to paste: the query without the sample.
winner=$(cat "$work/winner")
paste_query() { query "$1" | sed 's/ WHERE bloom_may_contain/\
     WHERE bloom_may_contain/; s/^/    /; s/$/;/'; }
case $winner in
  '' | plain) ;;
  own)
    printf '\n    ANALYZE %s;\n    ANALYZE %s;\n' "$facts" "$dimension" ;;
  kept)
    printf '\n    CREATE TABLE join_filters(name TEXT PRIMARY KEY, filter BLOB);\n'
    printf '    INSERT INTO join_filters SELECT %s, %s FROM %s;\n\n' "$(literal "$dimension")" "$build" "$passing"
    paste_query kept ;;
  *)
    echo
    paste_query "$winner" ;;
esac
