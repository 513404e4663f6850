#!/usr/bin/python3
"""
Shows: a filter that is handed out, and what a stranger who finds it can guess.  A clinic
gives a laboratory a filter of its patients' addresses, so that the laboratory drops all
other mail without asking.  The holder of a plain filter can try any address on it.
With keys made under a secret, bloom_key(value, 'siphash', secret), only the two who know
the secret can.

Run, from the top of the project, after `make`:
    /usr/bin/python3 examples/python/handed_out.py
What it prints is in handed_out.expected.
"""
import os
import sqlite3

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NUM_TOWN = 100_000
NUM_PATIENTS = 1_000

# In earnest: os.urandom(16), kept where passwords are kept, never in the database.
SECRET = bytes.fromhex("8c3f1d90b27ae5046f1bd2c87795e03a")


def database():
    """A connection of one of the three; they share no file."""
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(os.path.join(ROOT, "bloom"))
    db.execute("CREATE TABLE address(mail TEXT PRIMARY KEY)")
    return db


def address(i):
    return f"resident{i}@town.example"


def passing(db, key, bloom, secret=None):
    """The addresses in db that the filter may contain."""
    sql = f"SELECT mail FROM address WHERE bloom_may_contain(:bloom, {key})"
    return {mail for mail, in db.execute(sql, {"bloom": bloom, "secret": secret})}


# The secret is a parameter: in the text of a view, a trigger or a virtual table it would lie
# in the database's schema, for all to read.
PLAIN, KEYED = "mail", "bloom_key(mail, 'siphash', :secret)"

clinic = database()
patients = {address(i * 97) for i in range(NUM_PATIENTS)}
clinic.executemany("INSERT INTO address VALUES (?)", [(mail,) for mail in sorted(patients)])
handed_out = {key: clinic.execute(f"SELECT bloom_build({key}, 16) FROM address", {"secret": SECRET}).fetchone()[0]
              for key in (PLAIN, KEYED)}

# The laboratory's mail: patients, and many others.
laboratory = database()
mail = [address(i * 97 if i % 20 == 0 else i * 97 + 1) for i in range(NUM_PATIENTS)]
laboratory.executemany("INSERT INTO address VALUES (?)", [(m,) for m in mail])
kept = passing(laboratory, KEYED, handed_out[KEYED], SECRET)
print(f"laboratory, which has the secret: keeps {len(kept)} of {len(mail)} letters,"
      f" loses {len(patients.intersection(mail) - kept)} of {len(patients.intersection(mail))} from patients")

# A stranger finds the filter, and has the town's address book.
stranger = database()
stranger.executemany("INSERT INTO address VALUES (?)", [(address(i),) for i in range(NUM_TOWN)])
for title, handed, key, guess in [("the plain filter", PLAIN, PLAIN, None), ("the filter under a secret", KEYED, PLAIN, None),
                                  ("the same, by a secret of his own", KEYED, KEYED, bytes(16))]:
    found = passing(stranger, key, handed_out[handed], guess)
    print(f"stranger, {title}: {len(found):,} of {NUM_TOWN:,} guesses pass, {len(found & patients):,} of the {NUM_PATIENTS:,} patients among them")
