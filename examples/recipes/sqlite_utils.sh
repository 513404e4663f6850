#!/bin/sh
# A recipe for sqlite-utils: bloom in each command by --load-extension, a filter over
# a table, and two queries with it.  Tested with sqlite-utils 3.30, which Debian 12 has.
#
# Run, from anywhere, after `make`:  sh examples/recipes/sqlite_utils.sh
# What it prints is in recipe.expected, as for every recipe here.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
db=$work/shop.db

# Every command that writes to customer needs --load-extension, from the filter's making on.
query() { sqlite-utils query "$db" --load-extension ./bloom "$@"; }

# Some data: a purchase may name an address that no customer has.
awk 'BEGIN { print "email,country"; for (i = 0; i < 20000; i++) print "user" i "@example.org," (i % 4 ? "FR" : "DE") }' >"$work/customer.csv"
awk 'BEGIN { print "email,amount"; for (i = 0; i < 50000; i++) print "user" i * 97 "@example.org," i % 10 }' >"$work/purchase.csv"
sqlite-utils insert "$db" customer "$work/customer.csv" --csv --detect-types --pk email --silent
sqlite-utils insert "$db" purchase "$work/purchase.csv" --csv --detect-types --silent
query 'CREATE VIRTUAL TABLE customer_filter USING bloom(customer, email)' >/dev/null

# The join, with a filter of the customers that pass, which the query makes as it runs.  It asks the column of the
# large table.
counts="SELECT count(*) || ' purchases, ' || sum(amount) FROM purchase p"
plain=$(query --raw "$counts JOIN customer c ON c.email = p.email WHERE c.country = 'DE'")
screened=$(query --raw "WITH d AS MATERIALIZED (SELECT email FROM customer WHERE country = 'DE')
  $counts CROSS JOIN d ON d.email = p.email WHERE bloom_may_contain((SELECT bloom_filter(email) FROM d), p.email)")
[ "$screened" = "$plain" ] && same=True || same=False
echo "join: $screened in all; the same without the filter: $same"

# Which of these thousand keys are new?  One statement; the table is read only for a "maybe".
keys=$(awk 'BEGIN { for (i = 19600; i < 20600; i++) printf("%s\"user%d@example.org\"", (i > 19600 ? "," : "["), i); print "]" }')
new() {
  query --raw "SELECT count(*) FROM json_each(:keys)
    WHERE NOT bloom_may_contain((SELECT handle FROM customer_filter), value)
       OR NOT EXISTS (SELECT 1 FROM customer WHERE email = value)" -p keys "$keys"
}
echo "of 1,000 keys $(new) are new"
echo '{"email": "user20000@example.org", "country": "DE"}' |
  sqlite-utils insert "$db" customer - --pk email --load-extension ./bloom
echo "one of them is saved: $(new) are new"
