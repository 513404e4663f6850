#!/bin/sh
# Runs the core's test programs: sh test/core/run.sh [--sanitize | BUILD-FOLDER [EMULATOR ...]],
# at the top of the checkout.  Without a folder it builds them; with one they are there, made by
# `make core-tests`, which lists them: what else lies in the folder does not count.
# --sanitize: with a tenth of the large random counts, for memory errors need fewer.
#
# A program that crashes, or stops before it ran a test, counts as one failure.  What failing programs print is shown,
# and the lines of others that begin with "note: ".  Ends with `N passed, N failed`.
. test/lib/shared.sh
case ${1-} in
  '')         make -j "$jobs" core-tests || exit 1 ;;
  --sanitize) find_sanitizers && make_sanitized core-tests || exit 1
              export BLOOM_TEST_SHARE=10
              set -- build/sanitize ;;
esac
build=${1:-build/release}
[ $# = 0 ] || shift
work=$build/test/core

for program in $(cat "$work/programs"); do
  [ -e "$program" ] || program=$program.exe
  adds_up "$program" "$@" "$program"
  [ "$failed" != 0 ] || grep '^note: ' "$work/log"
done
finish
