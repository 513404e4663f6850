#!/usr/bin/python3
"""
bloom in Python, by apsw (Debian: python3-apsw).  Run it in the folder of bloom.so:
    /usr/bin/python3 python_apsw.py
"""
import apsw

db = apsw.Connection(":memory:")
db.enableloadextension(True)
db.loadextension("./bloom")
db.enableloadextension(False)
print("SQLite %s, bloom %s" % db.cursor().execute("SELECT sqlite_version(), bloom_version()").fetchone())

# Build a filter of the customers, and store it.
db.cursor().execute("""
    CREATE TABLE customers(id INTEGER PRIMARY KEY, country TEXT);
    INSERT INTO customers VALUES (1, 'DE'), (2, 'FR'), (1234567890123456789, 'DE');
    CREATE TABLE sales(customer_id INTEGER, amount INTEGER);
    INSERT INTO sales VALUES (1, 10), (2, 20), (77, 30), (1234567890123456789, 40);
    CREATE TABLE filters(name TEXT PRIMARY KEY, filter BLOB);
    INSERT INTO filters SELECT 'customers', bloom_build(id) FROM customers;
""")

# The filter is bytes here, to read and to bind.
stored, = db.cursor().execute("SELECT filter FROM filters WHERE name = 'customers'").fetchone()
print(f"filter: {len(stored)} bytes, {stored.hex()}")
for key in 1, 77, 1234567890123456789:
    maybe, = db.cursor().execute("SELECT bloom_may_contain(?, ?)", (stored, key)).fetchone()
    print(f"{key}: {'maybe' if maybe else 'no'}")

# In a join bloom_open() reads the stored filter once for all rows.
for customer, amount in db.cursor().execute("""
        SELECT customer_id, amount FROM sales JOIN customers ON id = customer_id
         WHERE bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)
         ORDER BY amount"""):
    print(f"customer {customer}: {amount}")
print("%d of %d sales pass the filter" % db.cursor().execute("""
        SELECT sum(bloom_may_contain((SELECT bloom_open(filter) FROM filters WHERE name = 'customers'), customer_id)),
               count(*) FROM sales""").fetchone())

encoding, num_bytes, keys, rate = db.cursor().execute("""
        SELECT encoding, num_bytes, estimated_keys, measured_fpr FROM filters, bloom_info(filter)""").fetchone()
print(f"{encoding}, {num_bytes} bytes, {keys:.1f} keys, {100 * rate:.2f} % false positives")

try:
    db.cursor().execute("SELECT bloom_may_contain('customers', 1)").fetchone()
except apsw.SQLError as error:
    print(str(error).replace("SQLError: ", "error: ", 1))
