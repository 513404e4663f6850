# To be sourced by a check of many parts: `check` and `adds_up` run them and count,
# `finish` prints the sum. $work is a folder to write in.
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

# adds_up TITLE COMMAND ...: a command that ends with `N passed, N failed`. Sets passed.
adds_up() {
  title=$1
  shift
  "$@" >"$work/log" 2>&1 </dev/null
  status=$?
  count=$(tail -n 1 "$work/log")
  passed=$(expr "$count" : '\([0-9][0-9]*\) passed, [0-9][0-9]* failed$')
  failed=$(expr "$count" : '[0-9][0-9]* passed, \([0-9][0-9]*\) failed$')
  passed=${passed:-0} failed=${failed:-0}
  # Nothing ran, or the end was not reached: one failure at least.
  if [ "$failed" = 0 ] && { [ $status != 0 ] || [ "$passed" = 0 ]; }; then failed=1; fi
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
