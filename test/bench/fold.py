#!/usr/bin/python3
"""
Folds the raw rows of the benchmarks to medians and quartiles: one file a benchmark.

    fold.py RAW FOLDER        RAW/RUN/BENCHMARK[-sqlite-VERSION].tsv to FOLDER/BENCHMARK.tsv

What stands before the column `repeat` says what was measured, and what stands after it are the
values.  Rows that differ in their repeat alone become one: the number of repeats, and of each value
its median, and _min, _q1, _q3 and _max if any two repeats differed.  Files without repeats (rates,
which are the same in each run) keep their rows.  The first two columns are the run (quick, medium
or full) and the version of SQLite, - where it has no part.  The lines with # are those of the raw
files: processor, day, commit, compiler and flags.
"""
import glob
import os
import re
import statistics
import sys


COLUMNS = "", "_min", "_q1", "_q3", "_max"


def folded(values):
    """The median, least, lower and upper quartile, and most."""
    order = sorted(values)
    lower, _, upper = statistics.quantiles(order, n=4, method="inclusive") if len(order) > 1 else 3 * order
    return statistics.median(order), order[0], lower, upper, order[-1]


def number(value):
    return str(int(value)) if value == int(value) else f"{value:.5g}"


def read(path):
    """The lines with #, the names of the columns, and the rows."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [line[1:].strip() for line in lines if line.startswith("#")], rows[0], rows[1:]


def fold(columns, rows):
    """The columns and the rows of medians; as they are if nothing was repeated."""
    if "repeat" not in columns:
        return columns, rows
    at = columns.index("repeat")
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[:at]), []).append([float(value) for value in row[at + 1:]])
    values = {key: [folded(its) for its in zip(*repeats)] for key, repeats in groups.items()}
    differ = [any(its[i][1] < its[i][4] for its in values.values()) for i in range(len(columns) - at - 1)]
    names = [name + part for name, all_of_it in zip(columns[at + 1:], differ) for part in COLUMNS[:5 if all_of_it else 1]]
    return columns[:at] + ["repeats"] + names, [
        [*key, str(len(groups[key]))] + [number(v) for five, all_of_it in zip(its, differ) for v in five[:5 if all_of_it else 1]]
        for key, its in values.items()]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    raw, folder = sys.argv[1:]
    benchmarks = {}
    for path in sorted(glob.glob(os.path.join(raw, "*", "*.tsv"))):
        name, version = re.fullmatch(r"(.*?)(?:-sqlite-([0-9.]+))?\.tsv", os.path.basename(path)).groups()
        benchmarks.setdefault(name, []).append((os.path.basename(os.path.dirname(path)), version or "-", path))
    if not benchmarks:
        sys.exit(f"{raw}: nothing was measured")
    os.makedirs(folder, exist_ok=True)
    num_raw = num_kept = 0
    for name, files in benchmarks.items():
        notes, header, body = {}, None, []
        # Folded together, so that all of one benchmark have the same columns.
        for run, version, path in files:
            its_notes, columns, rows = read(path)
            if header not in (None, columns):
                sys.exit(f"{path} has other columns than {files[0][2]}: measure both again")
            header = columns
            for note in its_notes:
                notes.setdefault(note, []).append(f"{run} {version}")
            body += [[run, version, *row] for row in rows]
        num_raw += len(body)
        columns, body = fold(["run", "sqlite", *header], body)
        num_kept += len(body)
        with open(os.path.join(folder, name + ".tsv"), "w", encoding="utf-8") as file:
            file.writelines(f"# {', '.join(of)}: {note}\n" for note, of in notes.items())
            file.writelines("\t".join(row) + "\n" for row in [columns, *body])
    print(f"folded {num_raw:,} rows to {num_kept:,}: {os.path.relpath(folder)}/*.tsv")


if __name__ == "__main__":
    main()
