#!/usr/bin/python3
"""
Shows: a filter as a bound parameter, to skip work that costs far more than a
look-up: opening files.

Thumbnails lie in 50 archive files (small SQLite databases).  Each archive's
filter is kept in one index table.  To find a thumbnail, only the archives whose
filter says "maybe" are opened.  The plain way opens archives until one has it.

Run, from the top of the project, after `make`:
    /usr/bin/python3 examples/python/thumbnails.py
What it prints is in thumbnails.expected; --time adds the times of this machine.
"""
import os
import sqlite3
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NUM_ARCHIVES = 50
NUM_PER_ARCHIVE = 400


def connect(path):
    db = sqlite3.connect(path)
    try:
        db.enable_load_extension(True)
        db.load_extension(os.path.join(ROOT, "bloom"))
        db.enable_load_extension(False)
    except AttributeError:
        sys.exit("this Python cannot load extensions; try /usr/bin/python3")
    except sqlite3.OperationalError as error:
        sys.exit(f"cannot load bloom ({error}); run make first")
    return db


def write_archives(folder, index):
    """Writes the archive files; returns the index a filter for each."""
    index.execute("CREATE TABLE archives(path TEXT PRIMARY KEY, filter BLOB)")
    for a in range(NUM_ARCHIVES):
        path = os.path.join(folder, f"archive{a:02}.db")
        archive = connect(path)
        archive.execute("CREATE TABLE thumbnails(name TEXT PRIMARY KEY, image BLOB)")
        archive.executemany(
            "INSERT INTO thumbnails VALUES (?, zeroblob(200))",
            ((f"photo-{i * NUM_ARCHIVES + a}.jpg",) for i in range(NUM_PER_ARCHIVE)))
        archive.commit()
        filter_blob, = archive.execute("SELECT bloom_build(name) FROM thumbnails").fetchone()
        archive.close()
        index.execute("INSERT INTO archives VALUES (?, ?)", (path, filter_blob))
    index.commit()


def look_into(path, name):
    archive = sqlite3.connect(path)
    found = archive.execute("SELECT image FROM thumbnails WHERE name = ?", (name,)).fetchone()
    archive.close()
    return found is not None


def find(paths, name):
    """Opens archives until one has the name.  Gives the path, or None, and the
    number of archives opened."""
    for num_opened, path in enumerate(paths, start=1):
        if look_into(path, name):
            return path, num_opened
    return None, len(paths)


def main():
    with tempfile.TemporaryDirectory() as folder:
        index = connect(":memory:")
        write_archives(folder, index)
        archives = index.execute("SELECT path, filter FROM archives").fetchall()
        print(f"{NUM_ARCHIVES} archives of {NUM_PER_ARCHIVE} thumbnails,"
              f" {sum(len(f) for _, f in archives):,} bytes of filters")

        # Half of these names exist.
        num_names = NUM_ARCHIVES * NUM_PER_ARCHIVE
        names = [f"photo-{(i * 7919) % (2 * num_names)}.jpg" for i in range(0, 200)]

        results = {}
        for title in ("plain", "with filters"):
            start = time.perf_counter()
            places, num_opened = [], 0
            for name in names:
                if title == "plain":
                    paths = [path for path, _ in archives]
                else:
                    paths = [path for path, filter_blob in archives if index.execute(
                        "SELECT bloom_may_contain(?, ?)", (filter_blob, name)).fetchone()[0]]
                path, opened = find(paths, name)
                places.append(path)
                num_opened += opened
            results[title] = places
            seconds = time.perf_counter() - start
            print(f"{title:<13}{num_opened:>6,} archives opened for {len(names)} names"
                  + (f", {seconds:.3f} s" if "--time" in sys.argv else ""))

        if results["plain"] != results["with filters"]:
            sys.exit("the filters changed the result")
        found = sum(path is not None for path in results["plain"])
        print(f"same result both ways: {found} found, {len(names) - found} not there")

        # Which archives can hold one name, asked in SQL: the name is bound, the
        # filters are the table's rows.
        maybe = index.execute("SELECT count(*) FROM archives WHERE bloom_may_contain(filter, ?)",
                              ("photo-1234.jpg",)).fetchone()[0]
        print(f"photo-1234.jpg may be in {maybe} of {NUM_ARCHIVES} archives")


if __name__ == "__main__":
    main()
