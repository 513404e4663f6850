# To be sourced by a check of many parts: `check` and `adds_up` run them and count,
# `finish` prints the sum and exits. $work is a folder to write in.
num_passed=0
num_failed=0

# check TITLE COMMAND ...: one test; what it printed is shown if it failed.
check() {
  title=$1
  shift
  if "$@" >"$work/log" 2>&1 </dev/null; then
    num_passed=$((num_passed + 1))
  else
    echo "FAILED: $title (exit status $?)"
    tail -n 40 "$work/log"
    num_failed=$((num_failed + 1))
  fi
}

# counted LOG COMMAND ...: a command that ends with `N passed, N failed`. Sets passed,
# failed and status; that it ran nothing, or stopped early, is one failure at least.
counted() {
  counted_log=$1
  shift
  "$@" >"$counted_log" 2>&1 </dev/null
  status=$?
  passed=$(tail -n 1 "$counted_log" | sed -n 's/^\([0-9][0-9]*\) passed, [0-9][0-9]* failed$/\1/p')
  failed=$(tail -n 1 "$counted_log" | sed -n 's/^[0-9][0-9]* passed, \([0-9][0-9]*\) failed$/\1/p')
  passed=${passed:-0} failed=${failed:-0}
  if [ "$failed" = 0 ] && { [ $status != 0 ] || [ "$passed" = 0 ]; }; then failed=1; fi
}

# adds_up TITLE COMMAND ...: the tests of a command that `counted` runs.
adds_up() {
  title=$1
  shift
  counted "$work/log" "$@"
  if [ "$failed" != 0 ]; then
    echo "FAILED: $title (exit status $status)"
    tail -n 200 "$work/log"
  fi
  num_passed=$((num_passed + passed))
  num_failed=$((num_failed + failed))
}

finish() {
  echo "$num_passed passed, $num_failed failed"
  [ "$num_failed" = 0 ]
  exit
}
