#!/bin/sh
# Is a filter worth it for this join, in this database?
#
#     sh examples/gain.sh DB 'facts.key' 'dimension.key' ["condition on the dimension" [column of the facts]]
#     sh examples/gain.sh shop.db 'sales.customer_id' 'customers.id' "country = 'FR'" amount
#     sh examples/gain.sh shop.db 'sales.(store, day)' 'prices.(store, day)'
#
# It asks about two tables: of a join with several dimensions, ask about each.
#
# Measures the join as it is, after ANALYZE, over a MATERIALIZED dimension, with IN, with an index on
# the facts' key, and with filters of ours: kept, or made by the query; and LEFT JOIN.  Each reads a
# column of the facts, so that no index answers alone: the one that is named, or one that no index has.
# Prints how many rows match, which forms lose rows and why, the times, a sentence of advice and the
# SQL of the winner.  A form with a filter of ours wins only if it is a quarter faster than the best one
# that needs no extension, and no form that is slower than the join is advised.
#
# It ends within a minute: of many facts it takes a sample, and it names the forms that it left out,
# because one run of them took several times as long as the join.
#
# DB is only read (one in WAL mode may get its -wal and -shm files).  Up to GAIN_COPY_MB (1024) megabytes
# it is copied into a temporary folder, which is removed at the end: ANALYZE and CREATE INDEX are tried there.
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
max_seconds=52                      # for all of it; then what runs is interrupted
round_seconds=15                    # of which the rounds may have these

stop() {
  echo "gain: $*" >&2
  exit 1
}

# What sqlite3 complained about, without the line of what it was given.
reason() {
  sed -n '1s/.* near line [0-9]*: *//; 1p' "$work/error"
}

if [ $# -lt 3 ] || [ $# -gt 5 ]; then
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

# list ALIAS COLUMNS: as SQL writes them.  key ALIAS COLUMNS: as one key.  row ALIAS COLUMNS: as a row.
list() {
  printf '%s' "$2" | sed "s/^/$1/; s/,/, $1/g"
}
key() {
  if [ "$num_columns" = 1 ]; then list "$@"; else echo "bloom_tuple($(list "$@"))"; fi
}
row() {
  if [ "$num_columns" = 1 ]; then list "$@"; else echo "($(list "$@"))"; fi
}
# A text as SQL writes it.
literal() {
  printf "'%s'" "$(printf '%s' "$1" | sed "s/'/''/g")"
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
passing_keys="SELECT $(list '' "$dimension_columns") FROM $passing"
if [ -n "$condition" ]; then partners="($passing_keys) d"; else partners="$dimension d"; fi

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

started=$(date +%s)
seconds_left() {
  echo $((max_seconds - $(date +%s) + started))
}

# within SECONDS COMMAND ...: interrupts it then, and when there is no time left.
within() {
  left=$(seconds_left)
  [ "$1" -ge "$left" ] || left=$1
  [ "$left" -ge 1 ] || left=1
  shift
  if command -v timeout >/dev/null; then
    timeout -k 1 -s INT "$left" "$@"
  else
    perl -e 'alarm shift; exec @ARGV' "$left" "$@"
  fi
}

file=$db
read_only=1
open_flag=-readonly attach=
analyze="PRAGMA analysis_limit = 1000; ANALYZE $facts; ANALYZE $dimension;"
megabytes=$(($(wc -c <"$db") / 1000000))
if [ $megabytes -le "${GAIN_COPY_MB:-1024}" ]; then
  echo "Copying the database, $megabytes MB, to a temporary folder ..."
  if within 15 "$sqlite" -readonly -batch -init /dev/null "$db" ".backup '$work/copy.db'" 2>"$work/error"; then
    file=$work/copy.db
    read_only= open_flag=
  else
    echo "  it cannot be copied ($(reason)): it is read where it is"
  fi
else
  echo "The database has $megabytes MB: it is read where it is, and ANALYZE is not tried (GAIN_COPY_MB=$megabytes copies it)."
fi

# run_sql SECONDS: runs SQL from stdin; the status is 124 or more if that took longer.  The sample of the facts, if there is one, is found before the table.
run_sql() {
  { printf ".load '%s'\n.bail on\nPRAGMA temp_store = MEMORY;\nPRAGMA cache_size = -500000;\n%s\n" "$bloom" "$attach"; cat; } |
    within "$1" "$sqlite" $open_flag -batch -init /dev/null "$file" 2>"$work/error"
}

# one SECONDS SQL: what a statement returns.
one() {
  printf '%s;\n' "$2" | run_sql "$1" || stop "$(reason)"
}

# The processor's time, but where pages may come from a disk the time that passes.
cpu_or_wall='words[6] + words[8]'
[ -z "$read_only" ] || cpu_or_wall='words[4]'

# -- What each form reads -----------------------------------------------------

# Of the facts a column that no index has, if there is one.
facts_name=$(literal "$(printf '%s' "$facts" | sed 's/"//g')")
read_column=${5-}
if [ -z "$read_column" ]; then
  keys=$(literal ",$fact_columns,")
  read_column=$(one 5 "SELECT '\"' || replace(name, '\"', '\"\"') || '\"' FROM pragma_table_info($facts_name) WHERE pk = 0 AND NOT instr($keys, ',' || name || ',')
    ORDER BY name IN (SELECT i.name FROM pragma_index_list($facts_name) l, pragma_index_info(l.name) i), cid LIMIT 1")
fi
measured="count(*)${read_column:+, count(f.$read_column)}"
join="SELECT $measured FROM $facts f JOIN $partners ON $matched"

# -- How many rows there are --------------------------------------------------

# sample_step AT-LEAST: the next step without divisors that periods of generated keys often have,
# of which a sample would see one value.
sample_step() {
  awk -v step="$1" 'BEGIN { while (!(step % 2 && step % 3 && step % 5 && step % 7)) step++; print step }'
}

# take_sample CONDITION: the facts that meet it, with the table's own columns, indexes and statistics,
# in a database that is opened in place of the other, which is attached.
take_sample() {
  columns=$(one 5 "SELECT group_concat('\"' || replace(name, '\"', '\"\"') || '\"') FROM pragma_table_info($facts_name)")
  attach="ATTACH $(literal "file:$(printf '%s' "$1" | sed 's/%/%25/g; s/?/%3f/g; s/#/%23/g')${read_only:+?mode=ro}") AS gain_db;"
  file=$work/sample.db open_flag=
  # What ANALYZE says of the sample is brought to the size of the facts.
  analyze="$analyze UPDATE main.sqlite_stat1 SET stat = (SELECT group_concat(value * $step, ' ') FROM json_each('[' || replace(stat, ' ', ',') || ']'));
    ANALYZE main.sqlite_master;"
  {
    echo 'PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF; ANALYZE main;'
    printf "SELECT sql || ';' FROM sqlite_master WHERE tbl_name = %s AND type IN ('table', 'index') AND sql IS NOT NULL ORDER BY type DESC, rowid;\n" "$facts_name" |
      within 5 "$sqlite" -readonly -batch -init /dev/null "$1"
    echo "INSERT INTO main.$facts($columns) SELECT $columns FROM gain_db.$facts f WHERE $2;"
  } >"$work/sample.sql"
  run_sql 20 <"$work/sample.sql" || stop "no sample of $facts can be taken: $(reason)"
  echo "INSERT INTO main.sqlite_stat1 SELECT * FROM gain_db.sqlite_stat1 WHERE tbl = $facts_name;" | run_sql 5 || :
}

echo 'Counting the rows ...'
step=1
num_keys=$(one 10 "SELECT count(*) FROM $passing")
sample="all rows of $facts"
if range=$(printf 'SELECT min(rowid), max(rowid) FROM %s;\n' "$facts" | run_sql 5) && [ "$range" != '|' ]; then
  first=${range%|*} last=${range#*|}
  where=
  if [ $((last - first)) -ge $max_scanned ]; then
    where="f.rowid > $((last - max_scanned)) AND "
    sample="the last $max_scanned rows of $facts"
    first=$((last - max_scanned + 1))
  fi
  # What the join takes for an eleventh of the sample, or for less of it, says how much there is time for.
  step=$(sample_step $(((last - first) / sample_rows + 1)))
  for part in 11 121 1331 ''; do
    [ -n "$part" ] || stop "the join of one row in $((step * 1331)) of $facts takes more than 5 s"
    pilot=$({ echo '.timer on'; echo "$join WHERE ${where}f.rowid % $((step * part)) = 0;"; } | run_sql 5) && break
    [ $? -ge 124 ] || stop "$(reason)"
  done
  # A form should take at most two seconds a run.
  step=$(echo "$pilot" | awk -v step=$step -v part=$part '{ split($0, words, " ") } /^Run Time:/ { print step * (int(part * ('"$cpu_or_wall"') / 2) + 1) }')
  step=$(sample_step "$step")
  if [ "$step" -gt 1 ]; then
    sample="a sample, one row in $step of $sample"
    take_sample "$file" "${where}f.rowid % $step = 0"
  fi
fi
num_facts=$(one 10 "SELECT count(*) FROM $facts")
echo "  $num_facts facts, $num_keys keys that they are joined with"
[ "$num_facts" -gt 0 ] || stop "there are no rows in $facts"
[ "$num_keys" -gt 0 ] || stop "no row of $passing is there to be joined"

# -- The forms of the query ---------------------------------------------------

# Filters of many keys do better in Parquet's encoding.
encoding=
[ "$num_keys" -le 20000 ] || encoding=", 'parquet'"
build="bloom_build($(key '' "$dimension_columns")$encoding)"

# The rows that pass, made once; the word MATERIALIZED is of SQLite 3.35.
materialized='MATERIALIZED '
[ "$(one 5 "SELECT sqlite_version() GLOB '3.[12][0-9].*' OR sqlite_version() GLOB '3.3[0-4].*'")" = 0 ] || materialized=
case ".$facts.$dimension." in
  *[.\"][dD][.\"]*) d=gain_d joined='gain_d d' ;;
  *) d=d joined=d ;;
esac
with_d="WITH $d AS $materialized($passing_keys) SELECT $measured FROM $facts f"
fact_row=$(row f. "$fact_columns")
is_in="$fact_row IN ($passing_keys)"
made="bloom_may_contain((SELECT bloom_filter($(list '' "$dimension_columns")) FROM $d), $(list f. "$fact_columns"))"
kept="bloom_may_contain((SELECT bloom_open(filter) FROM join_filters WHERE name = $(literal "$dimension")), $(key f. "$fact_columns"))"

# query FORM: its SQL.
query() {
  case $1 in
    plain | own | index) echo "$join" ;;
    d)        echo "$with_d JOIN $joined ON $matched" ;;
    IN)       echo "SELECT $measured FROM $facts f WHERE $is_in" ;;
    kept)     echo "SELECT $measured FROM $facts f CROSS JOIN $partners ON $matched WHERE $kept" ;;
    built)    echo "$with_d CROSS JOIN $joined ON $matched WHERE $made" ;;
    INbuilt)  echo "$with_d WHERE $made AND $fact_row IN (SELECT $(list '' "$dimension_columns") FROM $d)" ;;
    left)     echo "SELECT $measured FROM $facts f LEFT JOIN $partners ON $matched" ;;
    leftd)    echo "$with_d LEFT JOIN $joined ON $matched" ;;
    # How many facts have a partner.
    matching) echo "SELECT count(*) FROM $facts f WHERE EXISTS (SELECT 1 FROM $partners WHERE $matched)" ;;
  esac
}

# lost LABEL CONDITION: how many matching facts do not meet it, and why most of them.  CASE: a key that is not
# found would be compared with all of them, to see whether one is NULL.
lost() {
  echo ".print @$1"
  echo "SELECT why || '|' || sum(count(*)) OVER () FROM (SELECT coalesce($why, 'they are equal by more than their bytes') AS why
    FROM $facts f JOIN $partners ON $matched WHERE CASE WHEN $2 THEN 0 ELSE 1 END) GROUP BY why ORDER BY count(*) DESC LIMIT 1;"
}

setup() {
  echo 'CREATE TEMP TABLE join_filters(name TEXT PRIMARY KEY, filter BLOB);'
  echo "INSERT INTO join_filters SELECT $(literal "$dimension"), $build FROM $passing;"
  printf '.print @bytes\nSELECT length(filter) FROM join_filters;\n'
}

# timed LABEL SQL: runs it once.
timed() {
  printf '.print @%s\n.timer on\n%s;\n.timer off\n' "$1" "$2"
}

# form NAME: runs it once; of a sample, also for one fact: what it does once, however many there are.
form() {
  [ "$1" != own ] || printf '.print @analyze\nBEGIN; %s\n' "$analyze"
  timed "$1" "$(query "$1")"
  [ "$step" = 1 ] || timed "once $1" "$(query "$1" | sed "s/ FROM $facts f/ FROM (SELECT * FROM $facts LIMIT 1) f/")"
  [ "$1" != own ] || echo 'ROLLBACK;'
}

# try NAME SECONDS: runs SQL from stdin, if it takes no longer and there is time; fails otherwise.
try() {
  seconds=$(seconds_left) status=124
  [ "$2" -ge "$seconds" ] || seconds=$2
  if [ "$seconds" -gt 0 ]; then
    run_sql "$seconds" >"$work/try" && cat "$work/try" >>"$work/times" && return
    status=$?
  fi
  [ $status -ge 124 ] || echo "gain: $1: $(reason)" >&2
  echo "@left out|$1|$((status < 124 || seconds < 0 ? 0 : seconds))" >>"$work/times"
  return 1
}

# count_of NAME: how many rows it counted.
count_of() {
  awk -v name="@$1" '$0 == name { getline; sub(/[|].*/, ""); print; exit }' "$work/times"
}

forms='plain built d IN kept INbuilt'
[ -n "$read_only" ] || forms="$forms own"
forms="$forms left leftd"
echo "Measuring $(echo "$forms" | wc -w) forms of the query ..."
: >"$work/times"
# Each is tried alone first, and may take four times as long as the join.
patience=10
quick=
for name in $forms; do
  begun=$(date +%s)
  if { [ "$name" != kept ] || setup; form "$name"; } | try "$name" $patience; then quick="$quick $name"; fi
  [ "$name" != plain ] || patience=$((($(date +%s) - begun) * 4 + 2))
done
case $quick in
  *plain*) ;;
  *) stop "one run of the join takes more than 10 s, and of $facts no sample can be taken" ;;
esac
# Which forms lose rows.
timed matching "$(query matching)" | try matching 5 || :
case $quick in *kept*) [ "$(count_of kept)" = "$(count_of plain)" ] || { setup; lost 'rows that kept loses' "$kept"; } | try 'rows that kept loses' 5 || : ;; esac
case $quick in *IN*) [ "$(count_of IN)" = "$(count_of matching)" ] || lost 'rows that IN loses' "$is_in" | try 'rows that IN loses' 5 || : ;; esac
# An index, where there is none and the join does not search the facts by another.
searched=
has_index=$(one 5 "SELECT count(*) FROM pragma_index_list($facts_name) l WHERE $(literal "$fact_columns") =
  (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(l.name) ORDER BY seqno LIMIT $num_columns))")
! printf 'EXPLAIN QUERY PLAN %s;\n' "$join" | run_sql 5 |
  grep -E -q 'SEARCH (TABLE [^ ]+ AS )?f USING (COVERING INDEX|INDEX|INTEGER|PRIMARY)' || searched=1
if [ -z "$read_only$searched" ] && [ "$has_index" = 0 ]; then
  {
    printf '.print @analyze\n'
    echo "BEGIN; CREATE INDEX gain_index ON $facts($(list '' "$fact_columns")); $analyze"
    printf '.print @index plan\nEXPLAIN QUERY PLAN %s;\n' "$join"
    round=0
    while [ $round -le "$num_rounds" ]; do timed index "$join"; round=$((round + 1)); done
    echo 'ROLLBACK;'
  } | try index 10 || :
fi
# Then the others in turns, as often as there is time for.
left=$(seconds_left)
num_rounds=$(awk -v most="$num_rounds" -v left=$((left < round_seconds ? left : round_seconds)) '
  /^@/ { counts = !/^@(index|matching|lost)/ }
  counts && /^Run Time:/ { sum += $4 }
  END { rounds = int(left / (1.2 * sum + 0.01)); print rounds < most ? rounds : most }' "$work/times")
{
  setup
  while [ "$num_rounds" -gt 0 ]; do
    for name in $quick; do form "$name"; done
    num_rounds=$((num_rounds - 1))
  done
} | try 'some of the runs' "$left" || :
echo "  done in $(($(date +%s) - started)) s"

# -- What came out -------------------------------------------------------------

# Prints it, and names for the SQL below the winner, the one with columns of the dimension, and LEFT JOIN.
awk -F '|' -v num_facts="$num_facts" -v num_keys="$num_keys" -v sample="$sample" -v facts="$facts" -v dimension="$dimension" -v step="$step" \
  -v winner_file="$work/winner" -v index_text="$facts($(list '' "$fact_columns"))" -v searched="$searched" '
  BEGIN {
    num_forms = split("plain own d IN index kept built INbuilt left leftd", forms, " ")
    split("the join|the join, after ANALYZE|WITH d AS MATERIALIZED|IN in place of the join|an index on " index_text \
      "|bloom, a filter kept|bloom, WITH d and bloom_filter()|bloom, IN behind bloom_filter()|LEFT JOIN|LEFT JOIN, WITH d AS MATERIALIZED", titles, "|")
    for (i = 1; i <= num_forms; i++) title[forms[i]] = titles[i]
    title["matching"] = "how many facts have a partner"
    title["some of the runs"] = "all runs but the first of each form"
  }
  /^@left out/ { left_out[++num_left_out] = $2; limit[$2] = $3; next }
  /^@/ { form = substr($0, 2); next }
  /^Run Time:/ { split($0, words, " "); ms[form, ++n[form]] = 1000 * ('"$cpu_or_wall"'); next }
  form ~ /^rows that/ { why[form] = $1; num_lost[form] = $2; next }
  form == "index plan" { if (/SEARCH.*gain_index/) index_is_searched = 1; next }
  /^[0-9]/ { result[form] = $0; count[form] = $1 }
  # The first run warms up, where there are others.
  function median(form,    first, i, j, t) {
    first = n[form] > 1 ? 2 : 1
    for (i = first + 1; i <= n[form]; i++)
      for (j = i; j > first && ms[form, j - 1] > ms[form, j]; j--) { t = ms[form, j]; ms[form, j] = ms[form, j - 1]; ms[form, j - 1] = t }
    return ms[form, int((first + n[form]) / 2)]
  }
  # What a form does once counts by the share of the sample.
  function time_of(form,    t) {
    t = median(form)
    if (n["once " form]) t -= median("once " form) * (1 - 1 / step)
    return t > 0.5 ? t : 0.5
  }
  function is_in(form) { return form ~ /^IN/ }
  function base(form) { return form ~ /^left/ ? "left" : "plain" }
  # Whether it returns what the join does; IN counts a fact once, the join once for each partner.
  function is_same(form) { return form == "index" || result[form] == result[base(form)] }
  function is_right(form) { return is_same(form) || is_in(form) && count[form] == count["matching"] }
  function percent(x) { return sprintf(x >= 0.0995 ? "%.0f %%" : x >= 0.00995 ? "%.1f %%" : "%.2g %%", 100 * x) }
  # By a quarter, and by more than the noise: its slowest run is faster than the fastest one of the other.
  function is_faster(a, b) { return time_of(a) * 1.25 <= time_of(b) && ms[a, n[a]] < ms[b, n[b] > 1 ? 2 : 1] }
  # The fastest of some forms; the first of them wins unless another is a quarter faster.
  function fastest(list,    i, k, names, best) {
    k = split(list, names, " ")
    for (i = 1; i <= k; i++) if (n[names[i]] && is_same(names[i]) && (best == "" || is_faster(names[i], best))) best = names[i]
    return best
  }
  # A filter has to be a quarter faster than what needs no extension.
  function winner(without, with,    a, b) {
    a = fastest(without)
    b = fastest(with)
    return b != "" && is_faster(b, a) ? b : a
  }
  END {
    share = count["plain"] / num_facts
    printf "\n%s of %s facts match: %s (%s).\n", count["plain"], num_facts, percent(share), sample
    form = "rows that kept loses"
    if (num_lost[form]) printf "ROWS ARE LOST by a filter that is kept, %s of %s: %s, but a filter compares bytes. The forms with bloom_filter() compare as `=` does.\n", num_lost[form], count["plain"], why[form]
    form = "rows that IN loses"
    if (num_lost[form]) printf "ROWS ARE LOST by IN, %s of %s: %s, and IN compares by the rule of %s alone.\n", num_lost[form], count["plain"], why[form], facts
    printf "\n  %-42s %10s %8s\n", "", "time", "gain"
    for (i = 1; i <= num_forms; i++) {
      form = forms[i]
      if (!n[form]) { printf "  %-42s %10s\n", title[form], !(form in limit) ? "not tried" : limit[form] ? "> " limit[form] " s" : "no time"; continue }
      remark = is_same(form) ? "" : is_right(form) ? "  counts a fact once: " count[form] " rows" : "  " (count[form] < count[base(form)] ? "loses" : "adds") " rows: " count[form]
      if (form == "index" && !index_is_searched) remark = "  is not searched"
      printf "  %-42s %7.0f ms %7.2fx%s\n", title[form], time_of(form), time_of(base(form)) / time_of(form), remark
    }
    if (count["bytes"]) printf "  A filter of %s keys that is kept has %s bytes.\n", num_keys, count["bytes"]
    for (i = 1; i <= num_left_out; i++) if (!(left_out[i] in n)) {
      form = left_out[i]
      printf "Left out: %s, which %s.\n", form in title ? title[form] : "the " form, limit[form] ? "took more than " limit[form] " s" : "there was no time for"
    }
    best = winner("plain d own IN", "built kept INbuilt")
    print ""
    advice["plain"] = searched ? "SQLite searches " facts " by an index: a filter has nothing to save." : percent(share) " match: no other form is a quarter faster than the join as it is."
    advice["own"] = percent(share) " match, and after ANALYZE SQLite does well by itself: run it, and again when the tables have changed much."
    advice["d"] = percent(share) " match: look up the rows that pass, not all of " dimension ". A filter in front of that is not a quarter faster."
    advice["IN"] = percent(share) " match: write IN, if you need no column of " dimension ". A filter in front of it is not a quarter faster."
    advice["INbuilt"] = percent(share) " match: write IN behind a filter, if you need no column of " dimension "."
    advice["kept"] = percent(share) " match: a filter keeps the others from being looked up; keep it up to date by a virtual table, USING bloom, if " dimension " changes."
    advice["built"] = percent(share) " match: a filter keeps the others from being looked up, and the query makes it, so that there is nothing to keep up to date."
    print advice[best]
    if (index_is_searched && time_of("index") * 1.25 <= time_of(best))
      printf "An index on %s is %.1f times as fast as that, if you can have one: CREATE INDEX. It takes room, and time at each INSERT.\n", index_text, time_of(best) / time_of("index")
    print best >winner_file
    # What a query with columns of the dimension can have.
    print (is_in(best) ? winner("plain d own", "built kept") : "plain") >winner_file
    print (n["left"] && fastest("left leftd") == "leftd" ? "leftd" : "plain") >winner_file
  }' "$work/times"

# show TITLE FORM: what to paste, the query without the sample.
show() {
  [ "$2" != plain ] || return 0
  [ -z "$1" ] || printf '\n%s\n' "$1"
  echo
  case $2 in
    own) printf '    ANALYZE %s;\n    ANALYZE %s;\n' "$facts" "$dimension"; return ;;
    kept) printf '    CREATE TABLE join_filters(name TEXT PRIMARY KEY, filter BLOB);\n'
          printf '    INSERT INTO join_filters SELECT %s, %s FROM %s;\n\n' "$(literal "$dimension")" "$build" "$passing" ;;
  esac
  query "$2" | sed 's/) SELECT /)\
    SELECT /; s/ WHERE bloom_may_contain/\
     WHERE bloom_may_contain/; s/^/    /; s/^        /    /; s/$/;/'
}
{
  read -r winner
  read -r with_columns
  read -r left
} <"$work/winner"
show '' "$winner"
show "With columns of $dimension:" "$with_columns"
show 'LEFT JOIN:' "$left"
