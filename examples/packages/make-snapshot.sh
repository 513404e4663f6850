#!/bin/sh
# Writes data/packages.tsv.gz anew from this machine's package index (Debian 12
# with `apt-get update` done).  The same index gives the same bytes.
set -eu
cd "$(dirname "$0")"
LC_ALL=C
export LC_ALL
apt-cache dumpavail | awk -f extract.awk | sort > data/packages.tsv
num_packages=$(awk 'END { print NR }' data/packages.tsv)
if [ "$num_packages" -lt 5000 ]; then
  rm data/packages.tsv
  echo "make-snapshot.sh: only $num_packages packages known here; run apt-get update first" >&2
  exit 1
fi
gzip -9 -n -f data/packages.tsv
echo "data/packages.tsv.gz: $num_packages packages, $(wc -c < data/packages.tsv.gz) bytes"
