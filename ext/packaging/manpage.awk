# Writes the man page, with the table of functions that ext/FUNCTIONS.md begins with:
#
#     awk -f ext/packaging/manpage.awk -v version=V -v extension=E ext/FUNCTIONS.md ext/packaging/sqlite-bloom.7.in
function roff(text) { gsub(/\\[|]/, "|", text); gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); return text }
FNR == NR {
  # | [bloom_open](#bloom_openfilter)(filter) | parses a filter once per statement |
  if (sub(/^\| \[/, "")) {
    sub(/\]\([^)]*\)/, "")
    sub(/ \|$/, "")
    split($0, cell, " \\| ")
    functions = functions ".TP\n.B " roff(cell[1]) "\n" roff(cell[2]) "\n"
  }
  next
}
$0 == "@FUNCTIONS@" { printf "%s", functions; next }
{ gsub(/@version@/, version); gsub(/@extension@/, extension); print }
