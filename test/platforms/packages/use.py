# The wheel in a virtual environment of its own: prints what it said, and what it lies beside.
import importlib.metadata
import sqlite3

import sqlite_bloom

db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
sqlite_bloom.load(db)
db.enable_load_extension(False)
print(*db.execute("""
  SELECT bloom_version(), bloom_may_contain(f, 3), bloom_may_contain(f, 4)
    FROM (SELECT bloom_build(value) AS f FROM json_each('[2, 3, 5, 7]'))""").fetchone())
assert importlib.metadata.version("sqlite-bloom") == sqlite_bloom.__version__
print(*sorted(file.name for file in importlib.metadata.files("sqlite-bloom") if not file.name.endswith(".pyc")))
