#!/bin/sh
# Runs every case of corrupt input, with sanitizers where there are any:
# sh test/corrupt/run.sh, at the top of the checkout.  Ends with `N passed, N failed`.
. test/shared.sh
find_python
find_sanitizers
"$PYTHON" test/corrupt/make_cases.py --check && make_linked corrupt-test >/dev/null || { echo '0 passed, 1 failed'; exit 1; }
exec $linked/test/corrupt/corrupt_test test/corrupt/*.tsv
