# Splits the lines of extract.awk into the two tables' rows: packages (the first
# four columns) to the file `packages`, one row per need to the file `needs`.
BEGIN {
  FS = OFS = "\t"
  num_kinds = split("Pre-Depends Depends Recommends Suggests Enhances Breaks Conflicts Replaces", kind, " ")
}
{
  print $1, $2, $3, $4 > packages
  for (i = 1; i <= num_kinds; i++) {
    num_names = split($(4 + i), name, " ")
    for (j = 1; j <= num_names; j++) print $1, kind[i], name[j] > needs
  }
}
