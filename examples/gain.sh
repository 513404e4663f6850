#!/bin/sh
# Is a filter worth it for this join, in this database?
#
#     sh examples/gain.sh DB 'facts.key' 'dimension.key' ["condition on the dimension"]
#     sh examples/gain.sh shop.db 'sales.customer_id' 'customers.id' "country = 'FR'"
#     sh examples/gain.sh shop.db 'sales.(store, day)' 'prices.(store, day)'
#
# Measures the join as it is, with the filter that SQLite makes itself once ANALYZE was run, over
# a MATERIALIZED dimension, with IN, with an index on the facts' key, and with filters of ours: kept,
# or made by the query.  Prints how many rows match, what loses rows and by what, the times, a sentence
# of advice and the SQL of the winner, within a minute: of many facts it takes a sample.  A form with a
# filter of ours wins only if it is a quarter faster than the best one that needs no extension.
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
max_indexed=5000000                 # facts that an index is made of, to see what it gains

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

# list COLUMNS: as SQL writes them.  keys ALIAS COLUMNS: the same of a table.  key ALIAS COLUMNS: the columns as one key.  row ALIAS COLUMNS: as a row.
list() {
  printf '%s' "$1" | sed 's/,/, /g'
}
keys() {
  printf '%s' "$2" | sed "s/^/$1/; s/,/, $1/g"
}
key() {
  if [ "$num_columns" = 1 ]; then keys "$@"; else echo "bloom_tuple($(keys "$@"))"; fi
}
row() {
  if [ "$num_columns" = 1 ]; then keys "$@"; else echo "($(keys "$@"))"; fi
}
matched= why=
i=1
while [ $i -le "$num_columns" ]; do
  d=$(column "$dimension_columns" $i) f=$(column "$fact_columns" $i)
  matched="$matched${matched:+ AND }d.$d = f.$f"
  # Why `=` takes for equal what bytes do not; the first column that says so.
  why="$why${why:+, }CASE WHEN typeof(d.$d) <> typeof(f.$f) THEN '$dimension.$d has ' || upper(typeof(d.$d)) || ' and $facts.$f ' || upper(typeof(f.$f))
    WHEN d.$d = f.$f COLLATE BINARY THEN NULL
    WHEN lower(d.$d) = lower(f.$f) THEN '$dimension.$d and $facts.$f are compared by NOCASE'
    WHEN rtrim(d.$d) = rtrim(f.$f) THEN '$dimension.$d and $facts.$f are compared by RTRIM'
    ELSE '$dimension.$d and $facts.$f are compared by a collation' END"
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
  first_fact=$first
  if [ $((last - first)) -ge $max_scanned ]; then
    first=$((last - max_scanned + 1))
    first_fact=$first
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
  # A form should take at most a second a run.
  step=$(sample_step "$(awk -v step=$step -v seconds="$pilot_seconds" 'BEGIN { print step * (int(seconds * 11) + 1) }')")
  if [ "$step" -gt 1 ]; then
    where="f.rowid % $step = 0${where:+ AND $where}"
    sample="a sample, one row in $step of $sample"
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
join="SELECT count(*) FROM $facts f JOIN $partners ON $matched"

# The rows that pass, made once; the word MATERIALIZED is of SQLite 3.35.
materialized='MATERIALIZED '
[ "$(one "SELECT sqlite_version() GLOB '3.[12][0-9].*' OR sqlite_version() GLOB '3.3[0-4].*'")" = 0 ] || materialized=
with_d="WITH d AS $materialized(SELECT $(list "$dimension_columns") FROM $passing) SELECT count(*) FROM $facts f"
made="bloom_may_contain((SELECT bloom_filter($(list "$dimension_columns")) FROM d), $(keys f. "$fact_columns"))"
is_in="$(row f. "$fact_columns") IN (SELECT $(list "$dimension_columns") FROM $passing)"
index="gain_index ON $facts($(list "$fact_columns"))"

# A text as SQL writes it.
literal() {
  printf "'%s'" "$(printf '%s' "$1" | sed "s/'/''/g")"
}

stored="bloom_may_contain((SELECT bloom_open(filter) FROM join_filters WHERE name = $(literal "$dimension")), $(key f. "$fact_columns"))"

plan() {
  printf 'EXPLAIN QUERY PLAN %s;\n' "$1" | run_sql 2>/dev/null || :
}

# query FORM [CONDITION]: its SQL; the sample's condition, which is cheap, comes first.
query() {
  first=${2:+$2 AND }
  case $1 in
    scan) echo "SELECT count(*) FROM $facts f WHERE $2" ;;
    plain | own) echo "$join${2:+ WHERE $2}" ;;
    d)     echo "$with_d JOIN d ON $matched${2:+ WHERE $2}" ;;
    IN)    echo "SELECT count(*) FROM $facts f WHERE $first$is_in" ;;
    index) echo "$join" ;;
    kept)  echo "$join WHERE ${first}$stored" ;;
    built) echo "$with_d JOIN d ON $matched WHERE $first$made" ;;
    left)  echo "$with_d LEFT JOIN d ON $matched AND $made" ;;
    INbuilt) echo "$with_d WHERE $first$made AND $(row f. "$fact_columns") IN (SELECT $(list "$dimension_columns") FROM d)" ;;
  esac
}

# form NAME: runs it once.  SQLite's own filter is switched off for the plain form.
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

# What a form does once, however many facts there are: the same for the first of them alone.
once() {
  printf '.print @once %s\n.timer on\n%s;\n.timer off\n' "$1" "$(query "$1" "f.rowid <= $first_fact + $step AND $where")"
}

# lost NAME CONDITION: how many matching facts do not meet the condition, and why most of them.
lost() {
  echo ".print @lost $1"
  echo "SELECT why || '|' || sum(count(*)) OVER () FROM (SELECT coalesce($why, 'they are equal by more than their bytes') AS why FROM $facts f JOIN $partners ON $matched WHERE ${where:+$where AND }NOT $2) GROUP BY why ORDER BY count(*) DESC LIMIT 1;"
}

forms='plain own d IN kept built INbuilt'
if [ -n "$read_only" ]; then
  # Statistics that are there already.
  has_stats=$(printf 'SELECT count(DISTINCT tbl) FROM sqlite_stat1 WHERE tbl IN (%s, %s);\n' "$(literal "$facts")" "$(literal "$dimension")" | run_sql 2>/dev/null || echo 0)
  [ "$has_stats" = 2 ] || forms='plain d IN kept built INbuilt'
fi
plain_plan=$(plan "$(query plain "$where")")
first_step=$(echo "$plain_plan" | grep -E -m 1 -o '(SCAN|SEARCH) (TABLE )?[^ ]+.*') || :
# An index is tried in the copy, where there is none and it is soon made.
tries_index=
if [ -z "$read_only" ] && [ $((num_facts * step)) -le "$max_indexed" ] && echo "$first_step" | grep -E -q '^(SCAN|SEARCH) (TABLE [^ ]+ AS )?f( |$)'; then
  tries_index=1
fi
echo "Measuring $(echo "$forms ${tries_index:+index}" | wc -w) forms of the query in turns ..."
{
  echo 'PRAGMA analysis_limit = 1000;'
  echo 'CREATE TEMP TABLE join_filters(name TEXT PRIMARY KEY, filter BLOB);'
  echo "INSERT INTO join_filters SELECT $(literal "$dimension"), $build FROM $passing;"
  printf '.print @bytes\nSELECT length(filter) FROM join_filters;\n'
  printf '.print @matching\nSELECT count(*) FROM %s f WHERE %s EXISTS (SELECT 1 FROM %s WHERE %s);\n' "$facts" "${where:+$where AND}" "$partners" "$matched"
  lost kept "$stored"
  lost IN "$is_in"
  round=0
  while [ $round -le "$num_rounds" ]; do # the first warms up
    # The sample's condition is asked of all rows, which would make all forms look alike: what that
    # costs is measured by itself, and taken off.
    [ "$step" = 1 ] || form scan
    for name in $forms; do
      form "$name"
      [ "$step" = 1 ] || once "$name"
    done
    round=$((round + 1))
  done
  if [ -n "$tries_index" ]; then
    echo "BEGIN; CREATE INDEX $index; $analyze"
    round=0
    while [ $round -le "$num_rounds" ]; do form index; round=$((round + 1)); done
    echo 'ROLLBACK;'
  fi
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

: >"$work/winner"
awk -v num_facts="$num_facts" -v num_keys="$num_keys" -v sample="$sample" -v facts="$facts" -v dimension="$dimension" -v step="$step" \
  -v winner_file="$work/winner" -v index_text="$facts($(list "$fact_columns"))" -v first_step="$first_step" '
  BEGIN {
    title["plain"] = "the join"
    title["own"] = "SQLite\047s own filter, after ANALYZE"
    title["d"] = "WITH d AS MATERIALIZED"
    title["IN"] = "IN in place of the join"
    title["index"] = "an index on " index_text
    title["kept"] = "bloom, a filter kept"
    title["built"] = "bloom, WITH d and bloom_filter()"
    title["INbuilt"] = "bloom, IN behind bloom_filter()"
    num_forms = split("plain own d IN index kept built INbuilt", forms, " ")
  }
  /^@/ { form = substr($0, 2); next }
  /^[+-]All/ { next } # newer shells say what .testctrl did
  /^Run Time:/ { if (runs[form]++) ms[form, ++n[form]] = 1000 * ('"$seconds"'); next } # the first run warms up
  form == "bytes" { bytes = $0; next }
  form == "matching" { matching = $0; next }
  form ~ /^lost/ { split($0, parts, "|"); why[substr(form, 6)] = parts[1]; num_lost[substr(form, 6)] = parts[2]; next }
  form ~ /^(scan|once)/ { next }
  /^[0-9]+$/ { result[form] = $0 }
  function median(form,    i, j, t) {
    for (i = 2; i <= n[form]; i++)
      for (j = i; j > 1 && ms[form, j - 1] > ms[form, j]; j--) { t = ms[form, j]; ms[form, j] = ms[form, j - 1]; ms[form, j - 1] = t }
    return ms[form, int((n[form] + 1) / 2)]
  }
  # Of the sample alone; what is done once for all rows counts by its share.
  function time_of(form,    t, once) {
    t = median(form)
    if (form == "index") t /= step
    else if (step > 1) {
      t -= median("scan") * (1 - 1 / step)
      once = n["once " form] ? median("once " form) : 0
      t -= once * (1 - 1 / step)
    }
    return t > 0.5 ? t : 0.5
  }
  function is_in(form) { return form ~ /^IN/ }
  # Whether it returns what the join does; IN counts a fact once, the join once for each partner.
  function is_right(form) { return form == "index" || result[form] == (is_in(form) ? matching : result["plain"]) }
  function is_same(form) { return is_right(form) && (!is_in(form) || matching == result["plain"]) }
  function percent(x) { return sprintf(x >= 0.0995 ? "%.0f %%" : x >= 0.00995 ? "%.1f %%" : "%.2g %%", 100 * x) }
  # The fastest of some forms; the first of them wins unless another is a quarter faster.
  function fastest(list,    i, k, names, best) {
    k = split(list, names, " ")
    for (i = 1; i <= k; i++) if (n[names[i]] && is_same(names[i]) && (best == "" || time_of(names[i]) * 1.25 <= time_of(best))) best = names[i]
    return best
  }
  END {
    if (!n["plain"]) { print "\nThere was no time for a single run: try a table with fewer rows, or GAIN_SAMPLE=100000."; exit }
    share = result["plain"] / num_facts
    printf "\n%s of %s facts match: %s (%s).\n", result["plain"], num_facts, percent(share), sample
    if (num_lost["kept"]) printf "ROWS ARE LOST by a filter that is kept, %s of %s: %s, but a filter compares bytes. The forms with bloom_filter() compare as `=` does.\n", num_lost["kept"], result["plain"], why["kept"]
    if (num_lost["IN"]) printf "ROWS ARE LOST by IN, %s of %s: %s, and IN compares by the rule of %s alone.\n", num_lost["IN"], result["plain"], why["IN"], facts
    for (i = 1; i <= num_forms; i++) {
      form = forms[i]
      if (n[form] && !is_right(form) && !num_lost[is_in(form) ? "IN" : form]) printf "%s has %s rows, not %s: do not use it.\n", title[form], result[form], is_in(form) ? matching : result["plain"]
    }
    printf "\n  %-42s %10s %8s\n", "", "time", "gain"
    for (i = 1; i <= num_forms; i++) {
      form = forms[i]
      if (!n[form]) { printf "  %-42s %10s\n", title[form], "not tried"; continue }
      t = time_of(form)
      remark = ""
      if (!is_right(form)) remark = "  loses rows: " result[form]
      else if (!is_same(form)) remark = "  counts a fact once: " result[form] " rows"
      printf "  %-42s %7.0f ms %7.2fx%s\n", title[form], t, time_of("plain") / t, remark
    }
    without = fastest("plain d own IN")
    with = fastest("built kept INbuilt")
    best = with != "" && time_of(with) * 1.25 <= time_of(without) ? with : without
    print best >winner_file
    # What a query with columns of the dimension can have.
    if (is_in(best)) {
      without = fastest("plain d own")
      with = fastest("built kept")
      print (with != "" && time_of(with) * 1.25 <= time_of(without) ? with : without) >winner_file
    }
    if (bytes) printf "  A filter of %s keys that is kept has %s bytes.\n", num_keys, bytes
    print ""
    if (best == "plain" && first_step !~ /^(SCAN|SEARCH) (TABLE [^ ]+ AS )?f( |$)/)
      advice = "SQLite begins with " dimension " and searches " facts " by an index: a filter has nothing to save."
    else if (best == "plain")
      advice = percent(share) " match: no other form is a quarter faster than the join as it is."
    else if (best == "own")
      advice = percent(share) " match, and after ANALYZE SQLite does well by itself: run it, and again when the tables have changed much."
    else if (best == "d")
      advice = percent(share) " match: look up the rows that pass, not all of " dimension ". A filter in front of that is not a quarter faster."
    else if (best == "IN")
      advice = percent(share) " match: write IN, if you need no column of " dimension ". A filter in front of it is not a quarter faster."
    else if (best == "INbuilt")
      advice = percent(share) " match: write IN behind a filter, if you need no column of " dimension "."
    else if (best == "kept")
      advice = percent(share) " match: a filter keeps the others from being looked up; keep it up to date by a virtual table, USING bloom, if " dimension " changes."
    else
      advice = percent(share) " match: a filter keeps the others from being looked up, and the query makes it, so that there is nothing to keep up to date."
    print advice
    if (n["index"] && time_of("index") * 1.25 <= time_of(best))
      printf "An index on %s is %.1f times as fast as that, if you can have one: CREATE INDEX. It takes room, and time at each INSERT.\n", index_text, time_of(best) / time_of("index")
  }' "$work/times"

# What to paste: the query without the sample.
paste_query() {
  query "$1" | sed 's/) SELECT /)\
    SELECT /; s/ WHERE bloom_may_contain/\
     WHERE bloom_may_contain/; s/ AND bloom_may_contain/\
       AND bloom_may_contain/; s/^/    /; s/^        /    /; s/$/;/'
}
show() {
  case $1 in
    own)
      printf '\n    ANALYZE %s;\n    ANALYZE %s;\n' "$facts" "$dimension" ;;
    kept)
      printf '\n    CREATE TABLE join_filters(name TEXT PRIMARY KEY, filter BLOB);\n'
      printf '    INSERT INTO join_filters SELECT %s, %s FROM %s;\n\n' "$(literal "$dimension")" "$build" "$passing"
      paste_query kept ;;
    *)
      echo
      paste_query "$1" ;;
  esac
}
winner=$(sed -n 1p "$work/winner")
with_columns=$(sed -n 2p "$work/winner")
case $winner in
  '' | plain) ;;
  *) show "$winner" ;;
esac
case $with_columns in
  '' | plain) ;;
  *) printf '\nWith columns of %s:\n' "$dimension"
     show "$with_columns" ;;
esac
case "$winner $with_columns" in
  *built*)
    printf '\nFor LEFT JOIN the filter stands in ON:\n'
    show left ;;
esac
