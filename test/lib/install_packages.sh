#!/bin/sh
# Installs what a fresh machine lacks: sh test/lib/install_packages.sh [--check] GROUP ...
#
# Groups: build, demo, test, long, check, dist, bench, cluster, wasm, browser, recipes, and one for each client of SQLite
# that examples/clients has; see the table of needs.  Each need is
# probed for real, by compiling or running something, so what is there in any form
# counts, and a machine that has everything installs nothing and needs no root.  Exit status 0: all is there
# (but perhaps not the optional needs: a line says so); 1: something is missing still.
# --check installs nothing, and its status is 1 where an optional need is missing, too.
set -u

# A need marked ? is optional: its users do without it and say so.  A comma parts
# packages, a dash means that there is none to install.
#
# groups        need             apt-get                  dnf                   apk               pacman             brew
needs='
build           compiler         gcc,libc6-dev            gcc,glibc-devel       gcc,musl-dev      gcc                gcc
build,dist      make             make                     make                  make              make               make
build,dist      sqlite_library   libsqlite3-dev           sqlite-devel          sqlite-dev        sqlite             sqlite
build,dist      xxhash           libxxhash-dev            xxhash-devel          xxhash-dev        xxhash             xxhash
demo,test,dist  sqlite_shell     sqlite3                  sqlite                sqlite            sqlite             sqlite
demo,test       awk              mawk                     gawk                  gawk              gawk               gawk
demo,test       gzip             gzip                     gzip                  gzip              gzip               gzip
demo            package_index?   -                        -                     -                 -                  -
test            tcl_sqlite       tcl,libsqlite3-tcl       tcl,sqlite-tcl        tcl,sqlite-tcl    tcl,sqlite-tcl     tcl-tk
test,bench      python           python3                  python3               python3           python             python
test            binutils         binutils                 binutils              binutils          binutils           binutils
long            pkg_config?      pkgconf                  pkgconf-pkg-config    pkgconf           pkgconf            pkgconf
test,bench      leveldb?         g++,libleveldb-dev       gcc-c++,leveldb-devel g++,leveldb-dev   gcc,leveldb        leveldb
test            sanitizers?      gcc                      libasan,libubsan      -                 gcc                -
check,recipes   django?          python3-django           python3-django        py3-django        python-django      -
check,long      alembic?         python3-alembic          python3-alembic       py3-alembic       python-alembic     -
check,recipes   sqlite_utils?    sqlite-utils             python3-sqlite-utils  -                 -                  sqlite-utils
check           comma_locale?    locales                  glibc-locale-source   -                 glibc              -
check,npm,bench npm?             npm                      npm                   npm               npm                node
check           tcl_headers?     tcl-dev                  tcl-devel             tcl-dev           tcl                tcl-tk
check           icu?             libicu-dev               libicu-devel          icu-dev           icu                -
check           fast_compiler?   tcc                      tcc                   tcc               tcc                -
check           static_analysis  gcc,clang-tidy,cppcheck  gcc,clang-tools-extra,cppcheck gcc,clang-extra-tools,cppcheck gcc,clang,cppcheck gcc,llvm,cppcheck
dist            compilers        gcc-x86-64-linux-gnu,gcc-aarch64-linux-gnu,libc6-dev-arm64-cross,gcc-mingw-w64-x86-64 - - - -
dist,wasm       npm              npm                      npm                   npm               npm                node
dist            wheel_builder    python3-build,python3-setuptools,python3-wheel python3-build,python3-setuptools,python3-wheel py3-build,py3-setuptools,py3-wheel python-build,python-setuptools,python-wheel -
dist            debian_packager  build-essential,debhelper,fakeroot - - - -
check           debootstrap?     debootstrap              -                     -                 -                  -
check           packages_tested? qemu-user,wine64,musl-tools,python3-venv,lintian,man-db,unzip - - - -
perl            dbd_sqlite?      libdbd-sqlite3-perl      perl-DBD-SQLite       perl-dbd-sqlite   perl-dbd-sqlite    -
apsw            apsw?            python3-apsw             python3-apsw          py3-apsw          python-apsw        -
php             php_sqlite?      php-cli,php-sqlite3      php-cli,php-pdo       -                 php,php-sqlite     php
ruby            ruby_sqlite?     ruby,ruby-sqlite3        rubygem-sqlite3       -                 -                  -
go              go_sqlite?       golang-go,golang-github-mattn-go-sqlite3-dev - - - -
java            java_sqlite?     default-jdk-headless,libxerial-sqlite-jdbc-java - - - -
recipes         sqlalchemy?      python3-sqlalchemy       python3-sqlalchemy    py3-sqlalchemy    python-sqlalchemy  -
cluster         dqlite           libdqlite-dev            -                     -                 -                  -
cluster         dqlite_shell     go-dqlite                -                     -                 -                  -
cluster         go_dqlite        golang-go,golang-github-canonical-go-dqlite-dev - - - -
wasm            emscripten       emscripten               -                     emscripten        emscripten         emscripten
browser         chromium         chromium,chromium-driver chromium,chromedriver chromium,chromium-chromedriver chromium           -
browser         selenium         python3-selenium         python3-selenium      -                 python-selenium    -
browser         node             nodejs                   nodejs                nodejs            nodejs             node
bench           rocksdb?         g++,librocksdb-dev       gcc-c++,rocksdb-devel g++,rocksdb-dev   gcc,rocksdb        rocksdb
bench           gnuplot?         gnuplot-nox              gnuplot-minimal       gnuplot           gnuplot            gnuplot
check           fuzzer           clang,libclang-rt-dev    clang,compiler-rt     clang,compiler-rt clang,compiler-rt  llvm
check           s390x?           gcc-s390x-linux-gnu,libc6-dev-s390x-cross,qemu-user - - - -
check           aarch64?         gcc-aarch64-linux-gnu,libc6-dev-arm64-cross,qemu-user - - - -
check           i686?            gcc-i686-linux-gnu,libc6-dev-i386-cross - - - -
check           windows?         gcc-mingw-w64-x86-64,wine64 - - - -
check           clang?           clang                    clang                 clang             clang              llvm
'

here=$(dirname "$0")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM

have() { command -v "$1" >/dev/null 2>&1; }

# Compiles and links the program on standard input with the given flags.
links() { ${CC:-cc} -x c - -o "$scratch/probe" "$@"; }

# Compiles and links a program with the given compiler.
links_for() { echo 'int main(void){ return 0; }' | "$1" -x c - -o "$scratch/probe"; }

probe() {
  case $1 in
  compiler)       echo 'int main(void){ return 0; }' | links ;;
  make)           make --version ;;
  sqlite_library) printf '%s\n' '#include <sqlite3ext.h>' 'SQLITE_EXTENSION_INIT1' '#undef sqlite3_initialize' \
                    'int main(void){ return sqlite3_initialize(); }' | links -lsqlite3 ;;
  xxhash)         printf '%s\n' '#define XXH_INLINE_ALL' '#include <xxhash.h>' \
                    'int main(void){ return XXH3_64bits("", 0)==0; }' | links ;;
  sqlite_shell)   sqlite3 :memory: .help </dev/null | grep '^\.load' ;;
  awk)            awk 'BEGIN { exit 0 }' ;;
  gzip)           gzip --version ;;
  # The demo's data on Debian: the lists that "apt-get update" fetches.
  package_index)  ! have apt-get || ls /var/lib/apt/lists/*_Packages* ;;
  tcl_sqlite)     echo 'exit [catch {package require Tcl 8.6; package require sqlite3}]' | tclsh ;;
  apsw)           . "$here/shared.sh"; find_python; "$PYTHON" -c 'import apsw' ;;
  python)         . "$here/shared.sh"; find_python; "$PYTHON" -c 'import sqlite3; sqlite3.connect(":memory:").enable_load_extension(True)' ;;
  binutils)       have nm && have readelf ;;
  pkg_config)     pkg-config --version ;;
  leveldb)        printf '%s\n' '#include <leveldb/filter_policy.h>' \
                    'int main(){ delete leveldb::NewBloomFilterPolicy(10); }' |
                    ${CXX:-c++} -x c++ - -o "$scratch/probe" -lleveldb ;;
  django)         . "$here/shared.sh"; find_python; "$PYTHON" -c 'import django' ;;
  alembic)        . "$here/shared.sh"; find_python; "$PYTHON" -c 'import alembic' ;;
  sqlite_utils)   . "$here/shared.sh"; find_python; "$PYTHON" -c 'import sqlite_utils' ;;
  comma_locale)   localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" ;;
  npm)            npm --version ;;
  tcl_headers)    printf '%s\n' '#include <tcl.h>' 'int main(void){ return Tcl_InitStubs(0, "8.6", 0)==0; }' |
                    links -DUSE_TCL_STUBS -I/usr/include/tcl8.6 -ltclstub8.6 ;;
  icu)            printf '%s\n' '#include <unicode/uversion.h>' 'int main(void){ UVersionInfo version; u_getVersion(version); return version[0]==0; }' |
                    links -licui18n -licuuc ;;
  # Mutants are compiled by the hundred.
  fast_compiler)  tcc -v ;;
  static_analysis) gcc --version && clang-tidy --version && cppcheck --version ;;
  rocksdb)        printf '%s\n' '#include <rocksdb/filter_policy.h>' 'int main(){ rocksdb::NewBloomFilterPolicy(10); }' |
                    ${CXX:-c++} -std=c++17 -x c++ - -o "$scratch/probe" -lrocksdb ;;
  gnuplot)        have gnuplot ;;
  dbd_sqlite)     perl -MDBD::SQLite -e 1 ;;
  sqlalchemy)     . "$here/shared.sh"; find_python; "$PYTHON" -c 'import sqlalchemy' ;;
  php_sqlite)     php -r 'new SQLite3(":memory:");' ;;
  ruby_sqlite)    ruby -r sqlite3 -e 1 ;;
  go_sqlite)      go version && [ -e /usr/share/gocode/src/github.com/mattn/go-sqlite3 ] ;;
  dqlite)         printf '%s\n' '#include <dqlite.h>' 'int main(void){ return dqlite_version_number()==0; }' |
                    links -ldqlite -lsqlite3 ;;
  dqlite_shell)   dqlite --help ;;
  go_dqlite)      go version && [ -e /usr/share/gocode/src/github.com/canonical/go-dqlite ] ;;
  java_sqlite)    javac -version && [ -e /usr/share/java/sqlite-jdbc.jar ] ;;
  fuzzer)         echo 'int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long);
                    int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long num){ (void)data; return num==99; }' |
                    clang -x c - -o "$scratch/probe" -fsanitize=fuzzer,address,undefined && "$scratch/probe" -runs=1 ;;
  s390x)          links_for s390x-linux-gnu-gcc && qemu-s390x -L /usr/s390x-linux-gnu "$scratch/probe" ;;
  aarch64)        links_for aarch64-linux-gnu-gcc && qemu-aarch64 -L /usr/aarch64-linux-gnu "$scratch/probe" ;;
  i686)           links_for i686-linux-gnu-gcc ;;
  windows)        links_for x86_64-w64-mingw32-gcc && /usr/lib/wine/wine64 --version ;;
  compilers)      links_for x86_64-linux-gnu-gcc && links_for aarch64-linux-gnu-gcc && links_for x86_64-w64-mingw32-gcc ;;
  # build.__main__: the folder build of a checkout passes for a module build.
  wheel_builder)  /usr/bin/python3 -c 'import build.__main__, setuptools, wheel' ;;
  # dpkg-buildpackage asks for the package build-essential by name.
  debian_packager) dpkg -s build-essential && have dpkg-buildpackage && have dh && have fakeroot ;;
  packages_tested) have qemu-aarch64 && /usr/lib/wine/wine64 --version && links_for musl-gcc &&
                    /usr/bin/python3 -c 'import ensurepip' && have lintian && have man && have unzip ;;
  debootstrap)    have debootstrap ;;
  clang)          have clang ;;
  emscripten)     emcc --version ;;
  chromium)       /usr/bin/chromium --version && /usr/bin/chromedriver --version ;;
  selenium)       /usr/bin/python3 -c 'import selenium' ;;
  node)           node --version ;;
  sanitizers)     echo 'int main(void){ return 0; }' | links -fsanitize=address,undefined,float-cast-overflow && "$scratch/probe" ;;
  esac >/dev/null 2>&1 </dev/null
}

# Sets required and optional to the missing needs of the groups, and packages and
# required_packages to what would bring them.
look_for() {
  required='' optional='' packages='' required_packages=''
  while read -r its_groups need on_apt on_dnf on_apk on_pacman on_brew; do
    is_wanted=
    for group in $(echo "$its_groups" | tr ',' ' '); do
      case " $groups " in *" $group "*) is_wanted=yes ;; esac
    done
    [ -n "$is_wanted" ] || continue
    probe "${need%\?}" && continue
    case $manager in
      apt-get) names=$on_apt ;; dnf) names=$on_dnf ;; apk) names=$on_apk ;;
      pacman) names=$on_pacman ;; brew) names=$on_brew ;; *) names=- ;;
    esac
    case $need in
      *\?) optional="$optional ${need%\?}" ;;
      *) required="$required $need" ;;
    esac
    for name in $(echo "$names" | tr ',' ' '); do
      [ "$name" != - ] || continue
      case " $packages " in *" $name "*) ;; *) packages="$packages $name" ;; esac
      case $need in *\?) ;; *) required_packages="$required_packages $name" ;; esac
    done
  done <<END
$needs
END
}

# Only a terminal can be asked for a password.
if [ -t 0 ]; then sudo=sudo; else sudo='sudo -n'; fi
needs_sudo() { [ "$manager" != brew ] && [ "$(id -u)" != 0 ]; }
as_root() { if needs_sudo; then $sudo "$@"; else "$@"; fi; }

apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null; }

# Old lists name versions that the archive no longer has, so a failure fetches new ones.
apt_install() {
  if ! probe package_index; then
    apt_get update || return
    lists_are_new=yes
  fi
  [ $# = 0 ] || apt_get install -y --no-install-recommends "$@" && return
  [ -n "${lists_are_new-}" ] && return 1
  apt_get update && lists_are_new=yes && apt_get install -y --no-install-recommends "$@"
}

install() {
  case $manager in
    apt-get) apt_install "$@" ;;
    dnf)     as_root dnf install -y "$@" ;;
    apk)     as_root apk add "$@" ;;
    pacman)  as_root pacman -S --needed --noconfirm "$@" ;;
    brew)    brew install "$@" ;;
  esac
}

is_check=
if [ "${1-}" = --check ]; then is_check=yes; shift; fi
groups=$*
manager=
for name in apt-get dnf apk pacman brew; do
  if have $name; then manager=$name; break; fi
done

look_for
[ -n "$required$optional" ] || exit 0
[ -z "$is_check" ] || exit 1

# Nothing to be had but what this package manager does not offer: do not try every time.
is_root=
if [ -n "$manager" ] && { [ -n "$packages" ] || [ "$manager" = apt-get ]; } && { ! needs_sudo || have sudo; }; then
  echo "Missing:$required$optional. Installing with $manager:${packages:- nothing but its lists}"
  # Asked once: a sudo that refuses would ask for every command.
  if as_root true; then
    is_root=yes
    # A package that only an optional need wants must not stand in the way of the rest.
    install $packages || install $required_packages
    look_for
  fi
fi

if [ -z "$required" ]; then
  [ -z "$optional" ] || echo "Going on without:$optional"
  exit 0
fi

{
  echo "Missing:$required."
  if [ -z "$manager" ]; then
    echo "No package manager that this script knows; on Debian these are the packages (other systems have them"
    echo "under similar names):"
    manager=apt-get
    look_for
    echo "   $packages"
  elif [ -z "$packages" ]; then
    echo "$manager has no package for that."
  elif [ -z "$is_root" ]; then
    echo "That needs root, and sudo is not there or refuses.  As root, run"
    case $manager in
      apt-get) echo "    apt-get update && apt-get install --no-install-recommends$packages" ;;
      dnf)     echo "    dnf install$packages" ;;
      apk)     echo "    apk add$packages" ;;
      pacman)  echo "    pacman -S$packages" ;;
    esac
  else
    echo "$manager did not bring them; the packages are:$packages"
  fi
} >&2
exit 1
