#!/bin/sh
# On Debian 12 as debootstrap makes it, where nothing is installed: sh test/platforms/packages/bare.sh
# [--readme], at the top of the checkout, as root.  Ends with `N passed, N failed`.
#
# --readme: a new clone of the last commit, in which the two commands of the README are
# run as they are printed there, with a clock.  Takes a quarter of an hour or two.
#
# Without it, packages:
# In one such system, as it is, the packages are made, as BUILDING.md says.
# In others, each with no more than its users have, they are installed and used.  Takes a quarter
# of an hour, most of it to install, and 4 GB in /var/tmp/bloom_bare, or the folder BARE.
. test/lib/shared.sh
# Not in build: make reads every *.d there.
bare=${BARE:-/var/tmp/bloom_bare}
work=$bare/log
mkdir -p "$work" || exit 1

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  leave_out 'packages on a bare Debian 12' 'It needs root, and debootstrap'
  finish
fi

unmount() { for mounted in "$bare"/*/proc "$bare"/*/dev/shm; do umount "$mounted" 2>/dev/null; done; }
trap unmount EXIT
trap 'exit 1' INT TERM
unmount

new_base() {
  [ -e "$bare/base/made" ] && return
  rm -rf "$bare/base" && debootstrap --variant=minbase bookworm "$bare/base" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" &&
    touch "$bare/base/made"
}

# in_system NAME COMMAND: in sh.
in_system() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
    chroot "$bare/$1" sh -c "cd /root && $2"
}

copy_of_base() {
  umount "$bare/$1/proc" "$bare/$1/dev/shm" 2>/dev/null
  rm -rf "${bare:?}/$1" && cp -a "$bare/base" "$bare/$1" && cp /etc/resolv.conf "$bare/$1/etc" &&
    mount -t proc proc "$bare/$1/proc" && mount -t tmpfs tmpfs "$bare/$1/dev/shm" # as a Debian that runs has
}

# new_system NAME PACKAGE ...: the base, with these.
new_system() {
  name=$1
  shift
  copy_of_base "$name" &&
    in_system "$name" "apt-get -q update && apt-get -q install -y --no-install-recommends $*"
}

checkout() { mkdir -p "$bare/maker/root/bloom" && git ls-files -z | xargs -0 cp -P --parents -t "$bare/maker/root/bloom"; }
# By the lines that BUILDING.md prints.
packages_are_made() {
  in_system maker "cd bloom && set -e && $(sed -n '/^```sh setup$/,/^```$/{ /dist/ { s/ *#.*//; p; }; }' ext/BUILDING.md)" &&
    [ "$(ls "$bare/maker/root/bloom/build/dist" | wc -l)" = 15 ]
}

# brings NAME FILE ...: packages into a system.
brings() {
  name=$1
  shift
  (cd "$bare/maker/root/bloom/build/dist" && cp "$@" "$bare/$name/root")
}
# says NAME COMMAND: the last line that it prints is right.
says() { same "$said" "$(in_system "$1" "$2" | tail -n 1)"; }

# Whatever else lies in the system, a C compiler is all that it is compiled by.
c_archive() {
  new_system c gcc libc6-dev && brings c "sqlite-bloom-$version-amalgamation.tar.gz" &&
    in_system c "tar xf sqlite-bloom-*.tar.gz && cd sqlite-bloom-$version &&
      cc -shared -fPIC -O3 -Isqlite bloom.c -o bloom.so && cc -O3 -DSQLITE_CORE -Isqlite -c bloom.c" &&
    in_system c 'apt-get -q install -y --no-install-recommends sqlite3' &&
    says c "sqlite3 :memory: '.load ./sqlite-bloom-$version/bloom' \"$sql\""
}
debian_package() {
  new_system debian sqlite3 && brings debian "libsqlite3-mod-bloom_${version}_amd64.deb" &&
    in_system debian 'apt-get -q install -y ./libsqlite3-mod-bloom_*_amd64.deb' &&
    says debian "sqlite3 :memory: '.load libsqlite3_mod_bloom' \"$sql\""
}
archive() {
  new_system archive sqlite3 && brings archive "sqlite-bloom-$version-linux-x64.tar.gz" && in_system archive 'tar xf sqlite-bloom-*.tar.gz' &&
    says archive "sqlite3 :memory: '.load ./bloom' \"$sql\""
}
wheel() {
  new_system python python3 python3-venv && brings python "sqlite_bloom-$version-py3-none-manylinux2014_x86_64.whl" &&
    in_system python 'python3 -m venv v && v/bin/pip install --no-index ./sqlite_bloom-*.whl' &&
    cat >"$bare/python/root/use.py" <<END &&
import sqlite3, sqlite_bloom
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
sqlite_bloom.load(db)
print(db.execute("""$sql""").fetchone()[0])
END
    says python 'v/bin/python use.py'
}
# Debian's Node has no SQLite, so the shell loads what the package names.
npm_package() {
  new_system node npm sqlite3 && brings node "sqlite-bloom-$version.tgz" "sqlite-bloom-linux-x64-$version.tgz" &&
    in_system node 'npm install --no-audit --no-fund ./sqlite-bloom-[0-9]*.tgz ./sqlite-bloom-linux-x64-*.tgz' &&
    says node "sqlite3 :memory: \".load \$(node -p 'require(\"sqlite-bloom\").getLoadablePath()')\" \"$sql\""
}

# The clone is made from outside, as it may come from anywhere: git is not in the system.
new_clone() { git clone -q --no-hardlinks . "$bare/reader/root/bloom"; }
commands_of_readme() {
  sed -n '/^```sh setup$/,/^```$/{ /^sh /s/ *#.*//p; }' README.md | head -n 2
}
# runs COMMAND: in the clone; seconds is how long it took.
runs() {
  start=$(date +%s)
  in_system reader "cd bloom && $1"
  status=$?
  seconds=$(($(date +%s) - start))
  return $status
}

check 'a bare Debian 12' new_base
if [ "${1-}" = --readme ]; then
  check 'one to read the README in' copy_of_base reader
  check 'a new clone' new_clone
  check 'the README has two commands' test "$(commands_of_readme | wc -l)" = 2
  while read -r command <&3; do
    check "$command" runs "$command"
    echo "note: $command: $seconds s, $(tail -n 1 "$work/log")"
  done 3<<END
$(commands_of_readme)
END
  finish
fi
check 'one to make packages in' new_system maker
check 'the checkout' checkout
check 'make dist' packages_are_made
check 'the C archive, by a C compiler alone' c_archive
check 'the Debian package' debian_package
check 'the archive of the library' archive
check 'the Python wheel' wheel
check 'the npm package' npm_package
finish
