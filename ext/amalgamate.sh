#!/bin/sh
# Writes the extension as one file, bloom.c, with its header bloom.h and the licences:
#
#     sh ext/amalgamate.sh DIRECTORY
#
# Every local #include is replaced by the file, the first time, and dropped
# after that; so names of file scope must be unique across files.  In place of
# <xxhash.h> stands that header as the compiler finds it, without its comments.
#
#     cc -shared -fPIC -O3 bloom.c -o bloom.so      the loadable extension
#     cc -DSQLITE_CORE -O3 -c bloom.c               to link with a program
set -eu
ext=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "$1"
out=$(CDPATH='' cd -- "$1" && pwd)
cd "$ext"

xxhash=$(echo '#include <xxhash.h>' | ${CC:-cc} ${CPPFLAGS-} -E -x c - | sed -n 's|^# [0-9]* "\(.*/xxhash\.h\)".*|\1|p' | sed -n 1p)
[ -n "$xxhash" ] || { echo 'amalgamate: there is no xxhash.h' >&2; exit 1; }
# Its notice ends with its first comment.
sed -n '1,/\*\//p' "$xxhash" | sed 's/^ \*\/*//; s/^ //; /^\/\*/d' >"$out/LICENSE.xxHash"
grep -q 'BSD 2-Clause' "$out/LICENSE.xxHash"

version=$(sed -n 's/^#define BLOOM_VERSION "\(.*\)"$/\1/p' bloom.h)
{
  echo "/* bloom $version in one file; made by ext/amalgamate.sh, not to be edited.
** Copyright (c) 2026 the bloom authors; MIT license, see LICENSE.
** It holds the code of xxHash's header, whose license is BSD 2-Clause: see LICENSE.xxHash. */"
  echo '#if !defined(SQLITE_CORE) && defined(__ELF__) && defined(__GNUC__) && (defined(__PIE__) || !defined(__PIC__))'
  echo '# error "bloom.c: to link it with a program add -DSQLITE_CORE, to make a library that SQLite loads add -fPIC -shared"'
  echo '#endif'
  echo '#ifndef _GNU_SOURCE'
  echo '# define _GNU_SOURCE'
  echo '#endif'
  # Only the entry point may be seen from outside, also by a program that it is linked with.
  echo '#if defined(__GNUC__)'
  echo '# define BLOOM_PRIVATE static __attribute__((unused))'
  echo '#else'
  echo '# define BLOOM_PRIVATE static'
  echo '#endif'
  copyright=$(sed -n 's/^ \* *Copyright/Copyright/p' "$xxhash" | sed -n 1p)
  awk -v xxhash="$xxhash" -v copyright="$copyright" '
    function normalize(path) {
      while (path ~ /[^\/]+\/\.\.\//) sub(/[^\/]+\/\.\.\//, "", path)
      return path
    }
    # The code of a file: no comments, no empty lines.  xxHash has no "/*" in a text.
    function code_of(path,   line, in_comment, at, code) {
      while ((status = (getline line < path)) > 0) {
        code = ""
        while (line != "") {
          if (in_comment) {
            at = index(line, "*/")
            line = at ? substr(line, at + 2) : ""
            if (at) in_comment = 0
          } else {
            at = index(line, "/*")
            if (!at) { code = code line; break }
            code = code substr(line, 1, at - 1) " "
            line = substr(line, at + 2)
            in_comment = 1
          }
        }
        sub(/[ \t]+$/, "", code)
        if (code != "") print code
      }
      close(path)
    }
    function include_xxhash() {
      if (xxhash in seen) return
      seen[xxhash] = 1
      printf "\n/* ---- xxhash.h of xxHash, without its comments: %s; BSD 2-Clause License, see LICENSE.xxHash ---- */\n", copyright
      code_of(xxhash)
    }
    # Gives a declaration or definition of file scope internal linkage.
    function private(line) {
      if (line ~ /^SQLITE_EXTENSION_INIT3/) return "static const sqlite3_api_routines *sqlite3_api;"
      if (line ~ /^SQLITE_EXTENSION_INIT1/) return ""
      if (line ~ /^(static|typedef|return|else|int sqlite3_bloom_init)/) return line
      if (line ~ /^extern (const )?[a-z]/ && line !~ /^extern "C"/) return "BLOOM_PRIVATE " substr(line, 8)
      if (line ~ /^[a-z][a-z0-9_ ]*[ *]+[a-z0-9_]+\(/ || line ~ /^(const )?[a-z0-9_]+ [a-z *]*bloom_[a-z0-9_]+(\[[^]]*\])? *[=;]/) {
        return "BLOOM_PRIVATE " line
      }
      return line
    }
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
          if (normalize(folder name) == "bloom.h") print "#include \"bloom.h\""
          else inline(normalize(folder name))
        } else if (line ~ /^#include <xxhash\.h>/) {
          include_xxhash()
        } else {
          print private(line)
        }
      }
      if (status < 0) { printf "amalgamate: no file %s\n", path > "/dev/stderr"; exit 1 }
      close(path)
    }
    BEGIN { for (i = 1; i < ARGC; i++) inline(ARGV[i]) }
  ' core/*/*.c core/*.c sqlite/*/*.c sqlite/*.c bloom.c
} > "$out/bloom.c"
cp bloom.h ../LICENSE "$out/"
