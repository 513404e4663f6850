#!/bin/sh
# Makes the packages, build/dist: sh ext/packaging/dist.sh, from any directory (`make dist`).
#
# Needs what `sh test/lib/install_packages.sh dist` installs. ext/bloom.h has the version.
#
#   PLATFORMS   the platforms to make packages for; darwin-x64 and darwin-arm64 take
#               build/PLATFORM/bloom.dylib as it was made on a Mac (ext/BUILDING.md)
#   MAINTAINER  who stands in the Debian package: Name <address>; unless it is given, a name
#               without an address
#   DIST_URL    where build/dist will lie, for sqlpkg.json; a folder or an address
set -eu
cd "$(dirname "$0")/../.."
unset MAKEFLAGS MAKELEVEL BUILD EXTENSION CC CFLAGS CPPFLAGS LDFLAGS
# Without PLATFORMS all compilers and packagers must be there; with it, what is missing fails by itself.
if [ -z "${PLATFORMS-}" ] && ! sh test/lib/install_packages.sh --check dist >/dev/null 2>&1; then
  echo "make dist: compilers for other machines or packagers are missing." \
    "\`sh test/lib/install_packages.sh dist\` installs them; PLATFORMS=linux-x64 asks for one machine's packages." >&2
  exit 1
fi
: "${PLATFORMS:=linux-x64 linux-arm64 windows-x64}"
: "${MAINTAINER:=the bloom authors}"
: "${DIST_URL:=.}"
: "${PYTHON:=/usr/bin/python3}"

# The same sources give the same bytes.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y ext/bloom.h)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

version=$(sed -n 's/^#define BLOOM_VERSION "\(.*\)"$/\1/p' ext/bloom.h)
name=sqlite-bloom
dist=$PWD/build/dist
work=$PWD/build/packaging
rm -rf "$dist" "$work"
mkdir -p "$dist" "$work/include"

# logged COMMAND ...: shows what it printed only if it fails.
logged() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }; }

# header NAME: where the compiler finds it. It serves every platform.
header() { echo "#include <$1>" | cc -E - | sed -n "s|^# [0-9]* \"\(.*/$1\)\".*|\1|p" | sed -n 1p; }
cp "$(header sqlite3.h)" "$(header sqlite3ext.h)" "$(header xxhash.h)" "$work/include"

# xxHash's code is in its header, so its notice goes where the library goes.
make -s amalgamation
cp build/amalgamation/LICENSE build/amalgamation/LICENSE.xxHash "$work"

library_of() { case $1 in linux-*) echo bloom.so ;; darwin-*) echo bloom.dylib ;; windows-*) echo bloom.dll ;; esac; }

# library PLATFORM: stripped, with the two licences beside it, in $work/PLATFORM.
library() {
  opt=-O3
  case $1 in
    linux-x64)   compiler=x86_64-linux-gnu-gcc ;;
    # Nothing of glibc's own, so that musl can load it too.
    linux-arm64) compiler=aarch64-linux-gnu-gcc opt='-O3 -mno-outline-atomics' ;;
    windows-x64) compiler=x86_64-w64-mingw32-gcc ;;
    darwin-*)    compiler='' ;;
    *)           echo "dist.sh: unknown platform $1" >&2; exit 1 ;;
  esac
  mkdir -p "$work/$1"
  cp "$work/LICENSE" "$work/LICENSE.xxHash" "$work/$1"
  if [ -n "$compiler" ]; then
    logged make -s -j "$(getconf _NPROCESSORS_ONLN)" CC=$compiler BUILD="$work/build/$1" OPT="$opt" LDFLAGS=-s \
      CPPFLAGS="-I$work/include" EXTENSION="$work/$1/$(library_of "$1")"
  else
    cp "build/$1/bloom.dylib" "$work/$1"
  fi
}

# archive NAME FOLDER
archive() {
  tar -C "$2" --sort=name --mtime=@"$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - . | gzip -9n >"$dist/$1.tar.gz"
}

# The one file, which a C compiler alone compiles: in a folder of its own, with SQLite's headers
# for those who have none.
c_archive() {
  folder=$work/amalgamation/$name-$version
  mkdir -p "$folder/sqlite"
  cp build/amalgamation/* ext/packaging/amalgamation/README.md "$folder"
  cp "$work/include/sqlite3.h" "$work/include/sqlite3ext.h" "$folder/sqlite"
  archive "$name-$version-amalgamation" "$work/amalgamation"
}

# The spec of sqlpkg, whose names of processors are Go's.
sqlpkg_json() {
  files='' checksums=''
  for platform in $PLATFORMS; do
    file=$name-$version-$platform.tar.gz
    sum=$(sha256sum <"$dist/$file")
    files="$files${files:+,}
            \"$(echo "$platform" | sed 's/x64/amd64/')\": \"$file\""
    checksums="$checksums${checksums:+,}
            \"$file\": \"sha256-${sum%% *}\""
  done
  cat <<END
{
    "owner": "bloom",
    "name": "bloom",
    "version": "$version",
    "authors": ["the bloom authors"],
    "license": "MIT",
    "description": "Bloom filters: built over a column, kept as a BLOB, tested before a look-up.",
    "keywords": ["$name", "bloom-filter"],
    "assets": {
        "path": "$DIST_URL",
        "files": {$files
        },
        "checksums": {$checksums
        }
    }
}
END
}

npm_quietly() { npm --loglevel=error "$@"; }

# npm_package FOLDER: packs it.
npm_package() { npm_quietly pack --silent --pack-destination "$dist" "$1" >/dev/null; }

npm_packages() {
  main=$work/npm/$name
  mkdir -p "$work/npm"
  cp -R ext/packaging/npm "$main"
  cp LICENSE "$main"
  (cd "$main" && npm_quietly pkg set version="$version" 'files[]=index.*')
  for platform in $PLATFORMS; do
    (cd "$main" && npm_quietly pkg set "optionalDependencies.$name-$platform=$version")
    os=${platform%-*}
    [ "$os" != windows ] || os=win32
    cp -R "$work/$platform" "$work/npm/$platform"
    (
      cd "$work/npm/$platform"
      echo "{\"name\": \"$name-$platform\", \"description\": \"The library of $name for $platform\", \"license\": \"MIT AND BSD-2-Clause\"}" >package.json
      npm_quietly pkg set version="$version" "os[]=$os" "cpu[]=${platform#*-}" 'files[]=bloom.*' 'files[]=LICENSE*'
    )
    npm_package "$work/npm/$platform"
  done
  npm_package "$main"
}

# manylinux2014 is glibc 2.17, the first for Arm; the library needs no more than 2.14 elsewhere.
wheel_platform() {
  case $1 in
    linux-x64) echo manylinux2014_x86_64 ;; linux-arm64) echo manylinux2014_aarch64 ;; windows-x64) echo win_amd64 ;;
    darwin-x64) echo macosx_10_9_x86_64 ;; darwin-arm64) echo macosx_11_0_arm64 ;;
  esac
}
wheel() {
  mkdir -p "$work/python"
  cp -R ext/packaging/python "$work/python/$1"
  cp "$work/$1"/bloom.* "$work/python/$1/sqlite_bloom"
  cp "$work/$1"/LICENSE* "$work/python/$1"
  sed -i "s/@version@/$version/" "$work/python/$1/sqlite_bloom/__init__.py"
  logged "$PYTHON" -m build --wheel --no-isolation --outdir "$dist" --config-setting=--build-option=--plat-name \
    --config-setting=--build-option="$(wheel_platform "$1")" "$work/python/$1"
}

# debian_package ARCHITECTURE: what is for another machine than this is compiled by Debian's
# cross compiler, for which the headers here serve, and cannot be loaded here.
debian_package() {
  tree=$work/debian-$1/$name-$version
  if [ "$1" = "$(dpkg --print-architecture)" ]; then crossing=''; else crossing="--host-arch $1 --build-profiles=nocheck -d"; fi
  # A changelog wants an address, be it an empty one.
  case $MAINTAINER in *'<'*) changed_by=$MAINTAINER ;; *) changed_by="$MAINTAINER <>" ;; esac
  mkdir -p "$tree"
  cp -R Makefile LICENSE README.md ext "$tree"
  cp -R ext/packaging/debian "$tree/debian"
  sed -i "s/@maintainer@/$MAINTAINER/" "$tree/debian/control"
  printf '%s\n' "$name ($version) unstable; urgency=medium" '' "  * bloom $version." '' \
    " -- $changed_by  $(date -R -d @"$SOURCE_DATE_EPOCH")" >"$tree/debian/changelog"
  {
    printf '%s\n' 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/' \
      'Upstream-Name: bloom' '' 'Files: *' "$(sed -n 's/^Copyright (c) /Copyright: /p' LICENSE)" 'License: Expat'
    sed '1,/^Copyright/d; /./,$!d; /^---/,$d; s/^$/./; s/^/ /' LICENSE
    echo 'Comment: The library holds code of the header of xxHash:'
    sed 's/^ *$/./; s/^/ /' "$work/LICENSE.xxHash"
  } >"$tree/debian/copyright"
  # shellcheck disable=SC2086 # options
  (
    cd "$tree"
    [ -z "$crossing" ] || export DEB_BUILD_OPTIONS=nocheck
    logged dpkg-buildpackage -b -us -uc $crossing
  )
  cp "$work/debian-$1"/libsqlite3-mod-bloom_*.deb "$dist"
}

for platform in $PLATFORMS; do
  library "$platform"
  archive "$name-$version-$platform" "$work/$platform"
done
c_archive
sqlpkg_json >"$dist/sqlpkg.json"
npm_packages
for platform in $PLATFORMS; do wheel "$platform"; done
for platform in $PLATFORMS; do
  case $platform in linux-*) debian_package "$(echo "${platform#*-}" | sed 's/^x64$/amd64/')" ;; esac
done
(cd "$dist" && sha256sum -- * >checksums.txt)
echo "build/dist:"
ls "$dist"
