#!/usr/bin/python3
"""
What bloom_index costs and gains, beside a B-tree index, FTS5's trigram index and the plain scan.

    make bench BENCH=index
    make bench-full BENCH=index ROWS="1000000 10000000"
    /usr/bin/python3 test/bench/index.py quick|full [--rows num_rows ...] [--only PART ...]

ROWS are those of the tables of keys alone.  Pages are those that a look-up reads with an empty page cache, by a prepared statement of one
connection: the same on every machine.  Times are the processor's, of contestants in turns.  Answers
are compared with each other.

Each part writes a file of raw rows, index_PART.  The parts: keys, texts, ends (prefixes and whole values), merges, shapes (of ids, and equal keys),
statements (INSERT, prepare).
"""
import argparse
import atexit

import harness
import index_keys
import index_log
import index_merges
import index_report
import index_search
from index_report import Report

DETAILS = {"quick": ("none",), "full": ("full", "none")}


# How much is measured.
SIZES = {
    "quick": {"log": 200_000, "needles": 20, "builds": 1, "shapes": 50_000, "equal": 200_000},
    "full": {"log": 1_000_000, "needles": 100, "builds": 3, "shapes": 200_000, "equal": 1_000_000},
}


def keys(report, size, rows):
    for num_rows in rows:
        index_keys.measure(report, num_rows, SIZES[size]["builds"] if num_rows <= 1_000_000 else 1)


def texts(report, size, rows):
    for what in ("log", "descriptions", "documents", "zh and ja"):
        index_search.measure(report, what, SIZES[size]["log"], DETAILS[size], SIZES[size]["needles"], SIZES[size]["builds"])


def ends(report, size, rows):
    index_search.measure_prefixes(report, index_log.database(SIZES[size]["log"]), SIZES[size]["log"])
    index_search.measure_numbers(report)


def merges(report, size, rows):
    index_merges.measure(report, size)


def shapes(report, size, rows):
    index_keys.measure_shapes(report, SIZES[size]["shapes"])
    index_keys.measure_equal(report, SIZES[size]["equal"])


def statements(report, size, rows):
    index_merges.measure_prepare(report, SIZES[size]["log"])
    index_merges.measure_inserts(report, SIZES[size]["log"], 3 if size == "quick" else 5)


PARTS = {part.__name__: part for part in (keys, texts, ends, merges, shapes, statements)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("size", choices=DETAILS)
    parser.add_argument("--rows", type=int, nargs="+")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS))
    arguments = parser.parse_args()
    rows = arguments.rows or {"quick": [1_000_000], "full": [100_000, 1_000_000, 10_000_000]}[arguments.size]
    atexit.register(index_report.remove_all)
    for name, part in PARTS.items():
        if name in arguments.only:
            part(Report(name, arguments.size), arguments.size, rows)


if __name__ == "__main__":
    main()
