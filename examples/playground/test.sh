#!/bin/sh
# Tries what `make wasm` built: sh examples/playground/test.sh, from any directory. The
# library under Node, then the page in headless Chromium. Installs what is missing, and
# leaves screenshots beside the page, in build/playground. Ends with `N passed, N failed`.
cd "$(dirname "$0")/../.." || exit 1
. test/lib/shared.sh
work=build/wasm
mkdir -p $work || exit 1
check 'make wasm was run' test -e build/playground/sqlite-bloom.js
check 'what the tests need is there' sh test/lib/install_packages.sh browser
adds_up 'the library, under Node' node examples/playground/test_api.mjs build/playground/sqlite-bloom.js
adds_up 'the page, in Chromium' /usr/bin/python3 examples/playground/test.py build/playground
finish
