#!/bin/sh
# The same scenario in every client of SQLite: sh examples/clients/test.sh [--made] [CLIENT ...],
# from any directory, after `make`.  A CLIENT is a row of the table, or `quick` for those that
# take a second each; without one it is all of them.
#
# Each program is copied beside bloom.so in a folder of its own, and run there as its head
# says.  It must print scenario.expected.  What is missing is installed, unless --made.
# Ends with `N passed, N failed`.
cd "$(dirname "$0")/../.." || exit 1
. test/lib/shared.sh
work=build/clients
mkdir -p $work || exit 1
find_python
is_made=
if [ "${1-}" = --made ]; then is_made=yes; shift; fi
chosen=" $* "

# What a client needs is a group of test/lib/install_packages.sh, or a package of npm.
#
# client         speed needs                  program             command
# shellcheck disable=SC2016 # for eval
clients='
shell            quick -                      shell.sql           ${SQLITE3:-sqlite3} <shell.sql
python_sqlite3   quick -                      python_sqlite3.py   "$PYTHON" python_sqlite3.py
python_apsw      quick apsw                   python_apsw.py      "$PYTHON" python_apsw.py
c_api            quick -                      c_api.c             ${CC:-cc} -o c_api c_api.c -lsqlite3 && ./c_api
c_api_static     quick -                      c_api.c             ${CC:-cc} -DSQLITE_CORE -o c_api c_api.c bloom.c -lsqlite3 && ./c_api
tcl_sqlite3      quick -                      tcl_sqlite3.tcl     tclsh tcl_sqlite3.tcl
perl_dbd_sqlite  quick perl                   perl_dbd_sqlite.pl  perl perl_dbd_sqlite.pl
php_sqlite3      slow  php                    php_sqlite3.php     php -d sqlite3.extension_dir=$PWD php_sqlite3.php
ruby_sqlite3     slow  ruby                   ruby_sqlite3.rb     ruby ruby_sqlite3.rb
go_mattn         slow  go                     go_mattn.go         GO111MODULE=off GOPATH=/usr/share/gocode go run go_mattn.go
JavaXerial       slow  java                   JavaXerial.java     java -cp /usr/share/java/sqlite-jdbc.jar JavaXerial.java
better_sqlite3   slow  better-sqlite3@12.11.1 better_sqlite3.mjs  node better_sqlite3.mjs
libsql           slow  libsql@0.5.29          better_sqlite3.mjs  node better_sqlite3.mjs libsql
node_sqlite      slow  node@22.23.3           node_sqlite.mjs     node_modules/.bin/node --no-warnings node_sqlite.mjs
deno             slow  deno@2.9.6             node_sqlite.mjs     node_modules/.bin/deno run -A node_sqlite.mjs
bun              slow  bun@1.4.5              node_sqlite.mjs     node_modules/.bin/bun node_sqlite.mjs
'

# brings NEEDS FOLDER: whether they are there, or can be installed.
brings() {
  case $1 in
    -)   ;;
    *@*) sh test/lib/install_packages.sh ${is_made:+--check} npm && { npm ls --prefix "$2" "$1" ||
           npm install --prefix "$2" --no-audit --no-fund "$1"; } ;;
    *)   sh test/lib/install_packages.sh ${is_made:+--check} "$1" && sh test/lib/install_packages.sh --check "$1" ;;
  esac
}

prints_the_scenario() {
  (cd "$folder" && eval "$command") >"$folder/output" 2>&1 || [ "$client" = shell ] || { cat "$folder/output"; return 1; }
  # The versions differ, and the shell says in its own words that a statement failed.
  sed '1s/[0-9][0-9.]*/VERSION/g; s/^.*rror:* near line [0-9]*: /error: /' "$folder/output" |
    diff -u examples/clients/scenario.expected -
}

versions=''
num_chosen=0
while read -r client speed needs program command; do
  case $chosen in "  " | *" $client "* | *" $speed "*) ;; *) continue ;; esac
  [ -n "$client" ] || continue
  folder=$work/$client
  mkdir -p "$folder" && cp "examples/clients/$program" "$folder" || exit 1
  case $client in
    *_static) make -s amalgamation && cp build/amalgamation/bloom.[ch] "$folder" ;;
    *)        cp bloom.so "$folder" || cp bloom.dylib "$folder" ;;
  esac || exit 1
  num_chosen=$((num_chosen + 1))
  if ! brings "$needs" "$folder" >"$work/install.log" 2>&1 </dev/null; then
    tail -n 5 "$work/install.log"
    leave_out "$client" "$needs is not here"
    continue
  fi
  check "$client" prints_the_scenario
  echo "$client: $(head -n 1 "$folder/output")"
  versions="$versions$(sed -n '1s/^SQLite \(.*\), .*/ \1/p' "$folder/output")"
done <<END
$clients
END
[ $num_chosen != 0 ] || { echo "There is no client$chosen" >&2; exit 1; }
echo "note: SQLite $(printf '%s\n' $versions | sort -Vu | paste -sd ' ' - | sed 's/ /, /g')"
finish
