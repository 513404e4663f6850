#!/bin/sh
# Runs every case of corrupt input, with sanitizers where there are any:
# sh test/hostile/corrupt/run.sh, at the top of the checkout.  Ends with `N passed, N failed`.
. test/lib/shared.sh
find_python
find_sanitizers
cases=build/test/corrupt
rm -rf $cases
"$PYTHON" test/hostile/corrupt/make_cases.py $cases && make_linked corrupt-test >/dev/null || { echo '0 passed, 1 failed'; exit 1; }
exec $linked/test/hostile/corrupt/corrupt_test $cases/*.tsv
