# Reads what the sqlite3 shell printed for one question and prints its table.
# The shell marks each run with "@plain" or "@screened"; between two marks stand
# the result rows and a "Run Time:" line. Exits with 1 if any run's result
# differs from the first one.
#
# -v rows="offered,maybe,matching"   what the rows query counted; "" for none
# -v own_plain=N -v own_screened=N   look-ups that SQLite's own filter spared
# -v kind=text                       the join's keys are texts
# -v key=name                        print one line for a table of keys instead
function median(form,    i, j, t, n, v) {
  n = num_times[form]
  for (i = 1; i <= n; i++) v[i] = time[form, i]
  for (i = 2; i <= n; i++)
    for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
  return 1000 * v[int((n + 1) / 2)]
}
function commas(n,    text, tail) {
  text = sprintf("%d", n)
  while (length(text) > 3) {
    tail = "," substr(text, length(text) - 2) tail
    text = substr(text, 1, length(text) - 3)
  }
  return text tail
}
function compare() {
  if (form == "") return
  if (num_runs++ == 0) first = result
  else if (result != first) differs = 1
}
/^@/ { compare(); form = substr($0, 2); result = ""; num_rows = 0; next }
/^Run Time:/ { time[form, ++num_times[form]] = $4; next }
{ result = result $0 "\n"; num_rows++ }
END {
  compare()
  if (num_times["plain"] == 0 || num_times["plain"] != num_times["screened"]) {
    print "  no times measured: the sqlite3 shell printed something unexpected" > "/dev/stderr"
    exit 1
  }
  plain_ms = median("plain"); screened_ms = median("screened")
  ratio = screened_ms > 0 ? plain_ms / screened_ms : 0
  split(rows, n, ",")
  if (key != "") {
    printf "  %-16s %6s %6s %6s %12s %12s %9.0f ms %6.0f ms  %s\n", key, commas(n[1]), commas(n[2]), \
      commas(n[1] - n[2]), commas(bytes_plain / 1024) " KB", commas(bytes_screened / 1024) " KB", \
      plain_ms, screened_ms, differs ? "DIFFER" : "yes"
    exit differs
  }
  if (rows != "") {
    printf "  %-13s %13s %22s %16s %14s\n", "", "rows to match", "look-ups made for them", "found", "time"
    printf "  %-13s %13s %22s %16s %11.0f ms\n", "plain", commas(n[1]), commas(n[1] - own_plain), commas(n[3]), plain_ms
    printf "  %-13s %13s %22s %16s %11.0f ms\n", "pre-screened", commas(n[1]), commas(n[2] - own_screened), commas(n[3]), screened_ms
    if (own_plain + own_screened > 0)
      printf "  (SQLite made a filter of its own as well, BLOOM FILTER in the plans: it spared %s and %s look-ups.)\n", commas(own_plain), commas(own_screened)
    if (own_plain > 0 && 2 * own_plain < n[1] && kind == "text") {
      print "  Why so few? That filter does not read texts: SQLite 3.40 tells two of them apart by their lengths"
      print "  alone, later versions up to 3.53 not at all, and 3.54 by the length and 16 of the bytes."
    }
  } else
    printf "  plain %.0f ms, pre-screened %.0f ms\n", plain_ms, screened_ms
  # Under a tenth, or a few milliseconds, is within what two runs of one query differ by.
  if (plain_ms - screened_ms < 5 && screened_ms - plain_ms < 5) word = "too short to tell them apart"
  else if (ratio > 1.1) word = sprintf("the filter makes this join %.1f times as fast", ratio)
  else if (ratio < 1 / 1.1) word = sprintf("the filter does not help here: %.1f times as slow", plain_ms > 0 ? screened_ms / plain_ms : 0)
  else word = "the filter gains nothing here"
  printf "  Times are medians of %d alternating runs: %s.\n", num_times["plain"], word
  if (differs) print "  Results DIFFER."
  else printf "  Results equal: yes (%d runs compared, %s row%s each).\n", num_runs, commas(num_rows), num_rows == 1 ? "" : "s"
  exit differs
}
