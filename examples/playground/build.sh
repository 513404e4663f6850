#!/bin/sh
# Puts the page together: sh examples/playground/build.sh, which `make wasm` does at its end.
# The modules become one script, as pages that are opened from the disk may import none: each
# import and each word export is dropped, so names of file scope must be unique.
set -eu
cd "$(dirname "$0")"
out=../../build/playground
mkdir -p $out
{
  echo '"use strict";'
  for module in dom hashes encodings sample picture chart ways console filters join blocks many keys main; do
    sed '/^import /d; s/^export //' src/$module.js
  done
} >$out/playground.js
cp index.html playground.css $out
