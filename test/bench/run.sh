#!/bin/sh
# Runs the benchmarks in turn: sh test/bench/run.sh quick|medium|full [NAME ...], at the top of the checkout.
# `make bench` (quick) and `make bench-full` come here; medium is large data with few runs for the joins, and else quick.
#
# A benchmark is a command; a new one is one line at the end of this file.  It prints a table (medians and spread,
# contestants in turns, warmed up), writes its raw rows to a file in $BENCH_RESULTS, which is build/bench/raw/quick,
# medium or full, and exits with 0 if all was right: a benchmark may check, but no time ever fails one.  At the end
# fold.py writes their medians to build/bench/results, and plots.py pictures of these to build/bench.
# `make bench-keep` keeps these pictures, and the rows that they show, in test/bench/results.
#
# BENCH_PREFIX, if set, is put before each command: "taskset -c 1", say.  SQLITE_VERSIONS: on which SQLite the
# benchmarks marked `each` run.  ROWS: how many rows bloom_index is measured with, such as "100000 100000000".
set -u
unset MAKEFLAGS MAKELEVEL

size=${1-} joins_size=${1-}
case $size in
  quick|full) shift ;;
  medium) shift; size=quick ;;
  *) echo "usage: sh test/bench/run.sh quick|medium|full [NAME ...]" >&2; exit 2 ;;
esac
chosen=$*
: "${SQLITE_VERSIONS:=system 3.54.1}" "${CC:=cc}" "${OPT:=-O3 -g}" "${BENCH_PREFIX:=}"

# The flags decide, not a name: -Og or a later -O0 in CFLAGS counts as they do.
if [ "$(echo __OPTIMIZE__ | $CC $OPT ${CFLAGS-} -E -P -x c - | tail -n 1)" != 1 ]; then
  echo "Built without optimisation ($CC $OPT ${CFLAGS-}) a benchmark says nothing: refused." >&2
  exit 1
fi

export CC OPT PYTHONDONTWRITEBYTECODE=1
export BENCH_FOLDER=$PWD/build/bench
export BENCH_EXTENSION=$BENCH_FOLDER/bloom.so
build=$(echo "$($CC --version | head -n 1) $OPT ${CFLAGS-}" | sed 's/ *$//')
# What measured: a model's name alone is that of many machines.
cpu=$(awk -F ': ' '/^model name/ {name=$2} /^cpu family/ {family=$2} /^model\t/ {model=$2} /^stepping/ {step=$2}
  END {if (name) print name " (" family "-" model "-" step ")"}' /proc/cpuinfo 2>/dev/null)
commit=$(git describe --always --dirty 2>/dev/null)
export BENCH_MACHINE="${cpu:-$(uname -m)}; $(date +%Y-%m-%d); ${commit:+bloom $commit; }$build"
export BENCH_RESULTS=$BENCH_FOLDER/raw/$joins_size

sh test/lib/install_packages.sh build bench || exit 1
mkdir -p "$BENCH_RESULTS"
[ -n "$chosen" ] || rm -f "$BENCH_RESULTS"/*.tsv # a whole run keeps nothing of an earlier one
# Its own build, made anew when the flags change: what is measured has the flags above.
if [ "$(cat "$BENCH_FOLDER/flags" 2>/dev/null)" != "$build" ]; then
  find "$BENCH_FOLDER" -maxdepth 1 -type f -perm -u+x -exec rm {} +
  rm -rf "$BENCH_FOLDER/release"
  echo "$build" >"$BENCH_FOLDER/flags"
fi
make -s BUILD=build/bench/release EXTENSION=build/bench/bloom.so || exit 1 # make knows no path with a space

failed=
python=${PYTHON:-/usr/bin/python3}

# run_on VERSION COMMAND ...
run_on() {
  version=$1
  shift
  if [ "$version" = system ]; then
    $BENCH_PREFIX "$@"
    return
  fi
  library=build/sqlite/$version
  if [ ! -e "$library/libsqlite3.so.0" ] && ! sh test/lib/build_sqlite.sh "$version"; then
    echo "left out: there is no SQLite $version"
    return 0
  fi
  found=$(LD_LIBRARY_PATH=$library $python -c 'import sqlite3; print(sqlite3.sqlite_version)')
  [ "$found" = "$version" ] || { echo "this would measure SQLite '$found'"; return 1; }
  $BENCH_PREFIX env LD_LIBRARY_PATH="$library" "$@"
}

# bench NAME once|each COMMAND ...   A program in build/bench is built first.
bench() {
  name=$1 how_often=$2
  shift 2
  case " $chosen " in *" $name "*) ;; "  ") ;; *) return ;; esac
  case $1 in build/bench/*) make -s "$1" || { failed="$failed $name"; return; } ;; esac
  versions=system
  [ "$how_often" = once ] || versions=$SQLITE_VERSIONS
  for version in $versions; do
    echo "== $name$([ "$how_often" = once ] || echo ", SQLite: $version")"
    run_on "$version" "$@" </dev/null || failed="$failed $name"
  done
}

# Debian's long descriptions of packages, for index, by lists of apt's beside the system's own.
export TRANSLATIONS="${TRANSLATIONS:-$BENCH_FOLDER/data/Translation-en}"
fetch_translations() {
  lists=$BENCH_FOLDER/data/lists
  mkdir -p "$lists/partial"
  apt-get -q update -o Dir::State::Lists="$lists" -o Acquire::Languages=en &&
    /usr/lib/apt/apt-helper cat-file "$(ls -S "$lists"/*_main_i18n_Translation-en* | head -n 1)" >"$TRANSLATIONS"
}
# Manual pages in Chinese and Japanese, for index.
fetch_manual() {
  mkdir -p "$BENCH_FOLDER/data"
  (cd "$BENCH_FOLDER/data" && apt-get -q download "$1" && mv "$1"_*.deb "$1.deb")
}
case " $chosen " in
  *" index "*|"  ")
    [ -s "$TRANSLATIONS" ] || fetch_translations >/dev/null 2>&1 || echo "left out: descriptions of packages"
    for package in manpages-zh manpages-ja; do
      [ -s "$BENCH_FOLDER/data/$package.deb" ] || fetch_manual "$package" >/dev/null 2>&1 || echo "left out: $package"
    done ;;
esac

if [ $size = full ]; then pick() { echo "$2"; }; else pick() { echo "$1"; }; fi

#     name            SQLite command                                     (pick QUICK FULL)
bench kernels         once   build/bench/kernels $size
bench per-row         each   $python test/bench/per_row.py $size
bench joins           each   $python test/bench/joins/lookup.py $joins_size
bench forms           each   $python test/bench/joins/forms.py $(pick '100000 3' '1000000 3')
bench many-sets       each   $python test/bench/many_sets.py $(pick '1000 3' '10000 11')
bench table           each   $python test/bench/table.py $(pick '100000 3' '1000000 5')
bench index           each   $python test/bench/index.py $size ${ROWS:+--rows $ROWS}
bench index-shares    each   $python test/bench/index_shares.py $(pick '40000 3' '200000 5')
bench index-json      each   $python test/bench/index_json.py $(pick '100000 3' '1000000 5')
bench regexp          each   $python test/bench/regexp.py $size ${ROWS:+--rows $ROWS}
bench index-ranges    once   $python test/bench/index_ranges.py $(pick 500000 5000000)
bench index-keys      once   $python test/bench/index_keys.py $(pick 300000 100000000)

if ls "$BENCH_FOLDER"/raw/*/*.tsv >/dev/null 2>&1; then # index-ranges and index-keys alone keep none
  echo "== plots"
  $python test/bench/fold.py "$BENCH_FOLDER/raw" "$BENCH_FOLDER/results" || failed="$failed fold"
  $python test/bench/plots.py "$BENCH_FOLDER/results" "$BENCH_FOLDER" || failed="$failed plots"
fi

[ -z "$failed" ] || { echo "FAILED:$failed" >&2; exit 1; }
