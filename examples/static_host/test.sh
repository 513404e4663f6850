#!/bin/sh
# Tries what `make static-host` made, in headless Chromium: sh examples/static_host/test.sh, from any
# directory. Installs what is missing, and leaves screenshots in build/static_host. Ends with
# `N passed, N failed`.
cd "$(dirname "$0")/../.." || exit 1
. test/lib/shared.sh
work=build/wasm/static_host
mkdir -p $work || exit 1
check 'make static-host was run' test -e build/static_host/log.db
check 'what the test needs is there' sh test/lib/install_packages.sh browser
adds_up 'the page, in Chromium' /usr/bin/python3 examples/static_host/test.py build/static_host
grep '^note: ' "$work/log"
finish
