#!/bin/sh
# Makes the packages (make dist), installs each into an empty place, and uses it there:
# sh test/platforms/packages/run.sh, at the top of the checkout. Ends with `N passed, N failed`.
# sh test/lib/install_packages.sh dist check installs what it needs; npm brings better-sqlite3.
. test/lib/shared.sh
find_python
work=$PWD/build/test_packages
dist=$PWD/build/dist
packed=$PWD/build/packaging
rm -rf "$work" && mkdir -p "$work" || exit 1

# -- What is made -------------------------------------------------------------

has_these_files() {
  same "checksums.txt
libsqlite3-mod-bloom_${version}_amd64.deb
libsqlite3-mod-bloom_${version}_arm64.deb
sqlite-bloom-$version-amalgamation.tar.gz
sqlite-bloom-$version-linux-arm64.tar.gz
sqlite-bloom-$version-linux-x64.tar.gz
sqlite-bloom-$version-windows-x64.tar.gz
sqlite-bloom-$version.tgz
sqlite-bloom-linux-arm64-$version.tgz
sqlite-bloom-linux-x64-$version.tgz
sqlite-bloom-windows-x64-$version.tgz
sqlite_bloom-$version-py3-none-manylinux2014_aarch64.whl
sqlite_bloom-$version-py3-none-manylinux2014_x86_64.whl
sqlite_bloom-$version-py3-none-win_amd64.whl
sqlpkg.json" "$(cd "$dist" && printf '%s\n' *)" && (cd "$dist" && sha256sum -c checksums.txt)
}

# The archives that hold no licence.
without_licence() {
  for file in "$dist"/*.t*gz; do tar tf "$file" | grep -q '/LICENSE$' || echo "$file"; done
  for file in "$dist"/*.whl; do unzip -l "$file" | grep -q '/LICENSE$' || echo "$file"; done
  # Where the library goes, xxHash's goes.
  for file in "$dist"/*64*.t*gz "$dist"/*amalgamation.t*gz; do tar tf "$file" | grep -q '/LICENSE.xxHash$' || echo "$file"; done
  for file in "$dist"/*.whl; do unzip -l "$file" | grep -q '/LICENSE.xxHash$' || echo "$file"; done
}

# is_lean PLATFORM OBJDUMP NEWEST: exports one symbol, is stripped, needs no glibc newer than NEWEST.
is_lean() {
  library=$packed/$1/bloom.so
  same '' "$($2 -t "$library" | grep '^[0-9a-f]\{8\}')" &&
    same sqlite3_bloom_init "$($2 -T "$library" | awk '$4==".text" { print $NF }')" &&
    same "$3" "$($2 -T "$library" | sed -n 's/.*(GLIBC_\([0-9.]*\)).*/\1/p' | sort -V | tail -n 1)" &&
    same '' "$($2 -p "$library" | sed -n 's/ *NEEDED *//p' | grep -v '^libc\.so\.6$')"
}

made_again() {
  cp "$dist/checksums.txt" "$work/checksums.txt" && make dist && diff "$work/checksums.txt" "$dist/checksums.txt"
}

# -- Archives, on the machine that each is for --------------------------------

sqlite=$PWD/build/sqlite/3.44.2
shells=$PWD/build/packages_shells
export WINEPREFIX="$PWD/build/machines/wine" WINEDEBUG=-all

# archive_works PLATFORM COMPILER [RUN ...]: a shell for that machine loads what the archive holds.
archive_works() (
  platform=$1 shell=$shells/$2.exe
  mkdir -p "$shells" "$work/$2" "${WINEPREFIX%/*}" && tar -C "$work/$2" -xf "$dist/sqlite-bloom-$version-$platform.tar.gz" || return
  [ -e "$shell" ] || "$2" -w -O0 "-I$sqlite" "$sqlite/shell.c" "$sqlite/sqlite3.c" -o "$shell" -lm || return
  cd "$work/$2" || return
  shift 2
  same "$said" "$(printf '%s\n' '.load ./bloom' "$sql" | "$@" "$shell" | tr -d '\r')"
)

# -- npm ----------------------------------------------------------------------

# What takes long to install is kept, in a folder above the empty one, where node looks too.
kept=$PWD/build/packages_npm
work_npm=$kept/empty
npm_fetches() { mkdir -p "$kept" && npm install --prefix "$kept" --no-audit --no-fund better-sqlite3 @types/better-sqlite3 @types/node typescript; }

npm_installs() (
  rm -rf "$work_npm" && mkdir -p "$work_npm" && cp test/platforms/packages/use.* "$work_npm" && cd "$work_npm" && npm init -y >/dev/null &&
    npm install --no-audit --no-fund "$dist/sqlite-bloom-$version.tgz" "$dist/sqlite-bloom-linux-x64-$version.tgz" &&
    npm ls sqlite-bloom
)
npm_modules() (
  cd "$work_npm" && node use.mjs >said.txt && same "$said" "$(uniq said.txt)"
)
npm_commonjs() (
  cd "$work_npm" && same "$version 1
There is no sqlite-bloom-sunos-x64, only sqlite-bloom-linux-arm64, sqlite-bloom-linux-x64, sqlite-bloom-windows-x64: build bloom from source for this platform
sqlite-bloom-windows-x64 is not installed: install sqlite-bloom anew on this platform, with its optional dependencies
sqlite-bloom LICENSE README.md index.cjs index.d.ts index.mjs package.json
sqlite-bloom-linux-x64 LICENSE LICENSE.xxHash bloom.so package.json" "$(node use.cjs)"
)
# npm refuses what is for another platform.
npm_refuses() (
  mkdir -p "$work/npm_other" && cd "$work/npm_other" && npm init -y >/dev/null &&
    ! npm install --no-audit --no-fund "$dist/sqlite-bloom-windows-x64-$version.tgz" >npm.log 2>&1 && grep EBADPLATFORM npm.log
)
npm_types() (
  cd "$work_npm" && cp use.ts use.mts && cp use.ts use.cts &&
    "$kept/node_modules/.bin/tsc" --noEmit --strict --esModuleInterop --skipLibCheck --module nodenext use.mts use.cts
)

# -- Python -------------------------------------------------------------------

wheel_works() {
  "$PYTHON" -m venv "$work/venv" &&
    "$work/venv/bin/pip" install --no-index --no-cache-dir "$dist"/sqlite_bloom-*-manylinux2014_x86_64.whl &&
    same "$said
INSTALLER LICENSE LICENSE.xxHash METADATA RECORD REQUESTED WHEEL __init__.py bloom.so direct_url.json py.typed top_level.txt" \
      "$(cd "$work" && venv/bin/python "$OLDPWD/test/platforms/packages/use.py")"
}
# apsw of the system, for the environment has none.
wheel_with_apsw() {
  same "$said" "$(PYTHONPATH=$(echo "$work"/venv/lib/python3*/site-packages) "$PYTHON" -c '
import sys, apsw, sqlite_bloom
db = apsw.Connection(":memory:")
db.enableloadextension(True)
sqlite_bloom.load(db)
print(*next(iter(db.cursor().execute(sys.argv[1]))))' "$sql")"
}
# What load() says where it cannot: to a connection as other Pythons have it (a real one, if a
# python3 on PATH is such), and where the line before it is missing.
wheel_says_why() {
  packages=$(echo "$work"/venv/lib/python3*/site-packages)
  for python in "$PYTHON" $(which -a python3); do
    PYTHONPATH=$packages "$python" - <<'END' || return
import sqlite3, sqlite_bloom
db = sqlite3.connect(":memory:")
class Connection:
    pass
for connection in [Connection()] + [db] * (not hasattr(db, "enable_load_extension")):
    try:
        sqlite_bloom.load(connection)
        raise SystemExit("it loaded")
    except sqlite3.NotSupportedError as error:
        assert all(word in str(error) for word in ("/usr/bin/python3", "apsw", "pysqlite3")), error
if hasattr(db, "enable_load_extension"):
    db.enable_load_extension(False)  # Debian's SQLite begins with True
    try:
        sqlite_bloom.load(db)
        raise SystemExit("it loaded")
    except sqlite3.OperationalError as error:
        assert "enable_load_extension(True)" in str(error), error
END
  done
}
wheel_refuses() { ! "$work/venv/bin/pip" install --no-index --no-cache-dir "$dist"/sqlite_bloom-*-win_amd64.whl; }

# -- sqlpkg -------------------------------------------------------------------

# Every file that it names is there, with that checksum, and the one for this machine loads.
sqlpkg_holds() {
  mkdir -p "$work/sqlpkg" && "$PYTHON" - "$dist" "$version" "$work/sqlpkg" <<'END' &&
import hashlib, json, pathlib, sys, tarfile
dist, version, place = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
spec = json.loads((dist / "sqlpkg.json").read_text())
assert (spec["owner"], spec["name"], spec["version"]) == ("bloom", "bloom", version)
assets = spec["assets"]
assert sorted(assets["files"]) == ["linux-amd64", "linux-arm64", "windows-amd64"]
assert sorted(assets["checksums"]) == sorted(assets["files"].values())
for name, checksum in assets["checksums"].items():
    assert checksum == "sha256-" + hashlib.sha256((dist / name).read_bytes()).hexdigest()
tarfile.open(dist / assets["files"]["linux-amd64"]).extractall(place)
END
    same "$said" "$(sqlite3 :memory: ".load $work/sqlpkg/bloom" "$sql")"
}

# -- Debian -------------------------------------------------------------------

deb=$dist/libsqlite3-mod-bloom_${version}_$(dpkg --print-architecture).deb
deb_works() {
  dpkg -x "$deb" "$work/root" || return
  folder=$work/root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
  same "$said" "$(LD_LIBRARY_PATH=$folder sqlite3 :memory: '.load libsqlite3_mod_bloom' "$sql")" &&
    same "$said" "$(sqlite3 :memory: ".load $folder/libsqlite3_mod_bloom.so" "$sql")" &&
    grep 'Permission is hereby granted' "$work/root/usr/share/doc/libsqlite3-mod-bloom/copyright" &&
    man -l "$work/root/usr/share/man/man7/libsqlite3-mod-bloom.7.gz" | grep '\.load libsqlite3_mod_bloom'
}
# On the emulated machine, by the shell that its archive was tested with.
deb_for_arm() {
  dpkg -x "$dist/libsqlite3-mod-bloom_${version}_arm64.deb" "$work/root_arm64" &&
    dpkg-deb -f "$dist/libsqlite3-mod-bloom_${version}_arm64.deb" Depends | grep '^libc6' &&
    same "$said" "$(printf '%s\n' ".load $work/root_arm64/usr/lib/aarch64-linux-gnu/libsqlite3_mod_bloom" "$sql" |
      qemu-aarch64 -L /usr/aarch64-linux-gnu "$shells/aarch64-linux-gnu-gcc.exe")"
}
# But for the maintainer, who has no address.
deb_is_clean() { same '' "$(lintian --no-cfg --allow-root --fail-on none "$deb" 2>&1 | grep -v 'bogus-mail-host\|malformed-contact')"; }
deb_has_no_made_up_address() { ! dpkg-deb -f "$deb" Maintainer | grep 'example\.org'; }

# -- The one file -------------------------------------------------------------

one=$work/one/sqlite-bloom-$version
one_file() {
  mkdir -p "$work/one" && tar -C "$work/one" -xf "$dist/sqlite-bloom-$version-amalgamation.tar.gz" &&
    same "sqlite-bloom-$version" "$(ls "$work/one")" &&
    (cd "$one" && cc -std=c11 -O2 -fPIC -shared -Wall -Wextra -Werror -Isqlite bloom.c -o bloom.so &&
      same "$said" "$(sqlite3 :memory: '.load ./bloom' "$sql")")
}
# Nothing but the C library's headers, and those that lie beside it.
one_file_needs_no_header() {
  cc -std=c11 -fPIC -I"$one/sqlite" -M "$one/bloom.c" | tr ' ' '\n' | grep '\.h$' >"$work/headers" &&
    grep "$one/sqlite/sqlite3ext.h" "$work/headers" && ! grep 'xxhash\|include/sqlite3' "$work/headers"
}
one_file_says_what_it_needs() {
  ! cc -I"$one/sqlite" -c "$one/bloom.c" -o "$work/bloom.o" 2>"$work/core.log" && grep 'add -DSQLITE_CORE' "$work/core.log" || return
  # As position-independent code it compiles, and says so when it runs.
  printf '%s\n' '#include <stdio.h>' '#include "bloom.h"' 'int main(void){ sqlite3 *db;' \
    '  sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);' \
    '  if( sqlite3_open(":memory:", &db)!=SQLITE_OK ) puts(sqlite3_errmsg(db));' \
    '  return 0; }' >"$work/one.c"
  cc -I"$one" -fPIC "$work/one.c" "$one/bloom.c" -lsqlite3 -o "$work/one.program" && "$work/one.program" | grep 'needs -DSQLITE_CORE'
}
# SQLite and bloom in one translation unit: no name of one is the other's.
with_sqlite() {
  cat >"$one/all.c" <<'END'
#include "sqlite3.c"
#include "bloom.c"
int register_bloom(const char *unused){
  (void)unused;
  return sqlite3_auto_extension((void (*)(void))sqlite3_bloom_init);
}
END
  cc -w -O0 -DSQLITE_CORE -DSQLITE_EXTRA_INIT=register_bloom "-I$sqlite" "-I$one" "$one/all.c" "$sqlite/shell.c" \
    -o "$one/all" -lm && same "$said" "$("$one/all" :memory: "$sql")"
}

check 'make dist' make dist
check 'makes these files, whose checksums are right' has_these_files
check 'each archive holds the licences' same '' "$(without_licence)"
check 'the library for x86-64 needs glibc 2.14' is_lean linux-x64 objdump 2.14
check 'the library for 64-bit Arm needs glibc 2.17' is_lean linux-arm64 aarch64-linux-gnu-objdump 2.17
check 'made again it is the same bytes' made_again

sh test/lib/build_sqlite.sh 3.44.2 || exit 1
check 'archive: x86-64' archive_works linux-x64 x86_64-linux-gnu-gcc
check 'archive: x86-64 with musl' archive_works linux-x64 musl-gcc
check 'archive: 64-bit Arm' archive_works linux-arm64 aarch64-linux-gnu-gcc qemu-aarch64 -L /usr/aarch64-linux-gnu
check 'archive: Windows' archive_works windows-x64 x86_64-w64-mingw32-gcc /usr/lib/wine/wine64
check 'npm: what the tests need' npm_fetches
check 'npm: installs in an empty folder' npm_installs
check 'npm: ES modules' npm_modules
check 'npm: CommonJS, and its errors' npm_commonjs
check 'npm: another platform is refused' npm_refuses
check 'npm: types' npm_types
check 'wheel: installs in an empty environment, and works' wheel_works
if sh test/lib/install_packages.sh --check apsw; then
  check 'wheel: a connection of apsw' wheel_with_apsw
else
  leave_out 'wheel: a connection of apsw' 'apsw is not here'
fi
check 'wheel: says why it does not load, and three ways out' wheel_says_why
check 'wheel: another platform is refused' wheel_refuses
check 'sqlpkg.json: files, checksums, loading' sqlpkg_holds
check 'Debian: unpacks and loads' deb_works
check 'Debian: for 64-bit Arm' deb_for_arm
check 'Debian: lintian' deb_is_clean
check 'Debian: no made-up address' deb_has_no_made_up_address
check 'one file: unpacks into a folder of its own, and loads' one_file
check 'one file: needs no header but its own' one_file_needs_no_header
check 'one file: without -DSQLITE_CORE it says what it needs' one_file_says_what_it_needs
check 'one file: compiled together with SQLite' with_sqlite
finish
