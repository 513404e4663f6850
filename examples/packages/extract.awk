# Reads Debian control stanzas (apt-cache dumpavail, a Packages file) and writes
# one line per package, tab-separated:
#   name section priority installed_kb, then one column per kind of need in the
#   order of `kinds`: the names it mentions, space-separated, sorted out of
#   versions, architectures and alternatives ("a (>= 1) | b:any" gives "a b").
# A name that comes twice keeps its first stanza.

function names_in(text,    parts, num_parts, i, name, line, seen) {
  num_parts = split(text, parts, /[,|]/)
  line = ""
  split("", seen)
  for (i = 1; i <= num_parts; i++) {
    name = parts[i]
    sub(/^[ \t]+/, "", name)
    sub(/[ \t(:[].*$/, "", name)
    if (name == "" || name in seen) continue
    seen[name]
    line = line (line == "" ? "" : " ") name
  }
  return line
}

function end_stanza(    i, line) {
  if (value["Package"] != "" && !(value["Package"] in done)) {
    done[value["Package"]]
    line = value["Package"] "\t" value["Section"] "\t" value["Priority"] "\t" (value["Installed-Size"] + 0)
    for (i = 1; i <= num_kinds; i++) line = line "\t" names_in(value[kind[i]])
    print line
  }
  split("", value)
  field = ""
}

BEGIN {
  num_kinds = split("Pre-Depends Depends Recommends Suggests Enhances Breaks Conflicts Replaces", kind, " ")
  for (i in kind) wanted[kind[i]]
  num_facts = split("Package Section Priority Installed-Size", fact, " ")
  for (i in fact) wanted[fact[i]]
}
/^$/ { end_stanza(); next }
/^[ \t]/ { if (field in wanted) value[field] = value[field] $0; next }
{
  colon = index($0, ":")
  field = substr($0, 1, colon - 1)
  if (!(field in wanted)) next
  text = substr($0, colon + 1)
  sub(/^[ \t]+/, "", text)
  value[field] = text
}
END { end_stanza() }
