#!/bin/sh
# Writes the extension as one file, bloom.c, with its header bloom.h and LICENSE:
#
#     sh ext/amalgamate.sh DIRECTORY
#
# Every local #include is replaced by the file, the first time, and dropped
# after that; so names of file scope must be unique across files.
#
#     cc -shared -fPIC -O3 bloom.c -o bloom.so      the loadable extension
#     cc -DSQLITE_CORE -O3 -c bloom.c               to link with a program
set -eu
ext=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "$1"
out=$(CDPATH='' cd -- "$1" && pwd)
cd "$ext"

version=$(sed -n 's/^#define BLOOM_VERSION "\(.*\)"$/\1/p' bloom.h)
{
  echo "/* bloom $version in one file; made by ext/amalgamate.sh, not to be edited.
** Copyright (c) 2026 the bloom authors; MIT license, see LICENSE. */"
  echo '#ifndef _GNU_SOURCE'
  echo '# define _GNU_SOURCE'
  echo '#endif'
  # Only the entry point may be seen from outside, whatever the compiler's flags.
  # But what other headers declare is not ours to hide: SQLite could not be linked.
  echo '#if defined(__GNUC__) && !defined(_WIN32)'
  echo '# define BLOOM_HIDE   _Pragma("GCC visibility push(hidden)")'
  echo '# define BLOOM_UNHIDE _Pragma("GCC visibility pop")'
  echo '#else'
  echo '# define BLOOM_HIDE'
  echo '# define BLOOM_UNHIDE'
  echo '#endif'
  echo 'BLOOM_HIDE'
  awk '
    function normalize(path) {
      while (path ~ /[^\/]+\/\.\.\//) sub(/[^\/]+\/\.\.\//, "", path)
      return path
    }
    function include(line) { print "BLOOM_UNHIDE"; print line; print "BLOOM_HIDE" }
    function inline(path,   line, folder, name) {
      if (path in seen) return
      seen[path] = 1
      folder = path
      if (!sub(/[^\/]*$/, "", folder)) folder = ""
      printf "\n/* ---- %s ---- */\n", path
      while ((status = (getline line < path)) > 0) {
        if (line ~ /^#include "/) {
          name = line
          sub(/^#include "/, "", name)
          sub(/".*/, "", name)
          if (normalize(folder name) == "bloom.h") include("#include \"bloom.h\"")
          else inline(normalize(folder name))
        } else if (line ~ /^# *include </) {
          include(line)
        } else {
          print line
        }
      }
      if (status < 0) { printf "amalgamate: no file %s\n", path > "/dev/stderr"; exit 1 }
      close(path)
    }
    BEGIN { for (i = 1; i < ARGC; i++) inline(ARGV[i]) }
  ' core/*/*.c core/*.c sqlite/*/*.c sqlite/*.c bloom.c
} > "$out/bloom.c"
cp bloom.h ../LICENSE "$out/"
