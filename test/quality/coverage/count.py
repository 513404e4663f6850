#!/usr/bin/python3
"""Counts which lines and branches of ext/ the tests took: count.py BUILD [SKIP ...].

BUILD is the folder of a build with --coverage whose programs have run; test/quality/coverage/run.sh
makes both.  gcov counts each object file; here they are summed up, so that an inline
function of a header counts once, wherever it was used.  Of a switch gcov counts a branch for
values that no case names, after the cases; where there is no default none can come, and it
is left out.

Names every branch that no test takes, and every function that none calls; fails where a
function has more of them than untaken.tsv allows it, with the reason.  SKIP: names of files
that cannot run on this machine.

Prints a Markdown table, then `N passed, N failed`.
"""

import collections
import csv
import glob
import json
import os
import subprocess
import sys

PARTS = [
    ("core", "ext/core/"),
    ("SQLite layer", "ext/"),
]

# file, function, how many branches of it may stay untaken, why
ALLOWED = os.path.join(os.path.dirname(__file__), "untaken.tsv")


def part_of(path):
    return next(part for part, prefix in PARTS if path.startswith(prefix))


def read_allowed():
    with open(ALLOWED, encoding="utf-8") as file:
        return {(row["file"], row["function"]): int(row["branches"]) for row in csv.DictReader(file, delimiter="\t")}


class Coverage:
    """What ran, by source file.  A branch is (file, function, line, its number, of how many)."""

    def __init__(self):
        self.lines = collections.defaultdict(int)  # (file, line) -> times run
        self.branches = collections.defaultdict(int)  # branch -> times taken
        self.functions = collections.defaultdict(int)  # (file, function, line) -> times called

    def add(self, report):
        for file in report["files"]:
            path = os.path.relpath(file["file"])
            if not path.startswith("ext/"):
                continue
            for function in file["functions"]:
                key = path, function["name"], function["start_line"]
                self.functions[key] += function["execution_count"]
            for line in file["lines"]:
                number = line["line_number"]
                self.lines[path, number] += line["count"]
                of = len(line["branches"])
                for k, branch in enumerate(line["branches"], 1):
                    self.branches[path, line.get("function_name", "?"), number, k, of] += branch["count"]


def gather(build):
    coverage = Coverage()
    # Loaded, linked with a program, and with tiny limits.
    notes = [note for part in ("", "linked/", "tiny/") for note in sorted(glob.glob(f"{build}/{part}ext/**/*.gcno", recursive=True))]
    for note in notes:
        command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", note]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for report in output.splitlines():
            coverage.add(json.loads(report))
    return coverage


def percent(part, whole):
    # Rounded down: 100 is said of all only.
    return f"{int(1000 * part / whole) / 10:g} %" if whole else "-"


def main(build, skipped):
    coverage = gather(build)
    sources = {}

    def code(path, line):
        if path not in sources:
            with open(path, encoding="utf-8") as file:
                sources[path] = file.read().splitlines()
        return sources[path][line - 1].strip()

    def counts(path, line, k, of):
        is_enum = code(path, line).startswith("switch(") and k == of
        return os.path.basename(path) not in skipped and not is_enum

    branches = {key: count for key, count in coverage.branches.items() if counts(key[0], *key[2:])}
    lines = {key: count for key, count in coverage.lines.items() if os.path.basename(key[0]) not in skipped}
    untaken = [(path, line, function, f"{k} of {of}") for (path, function, line, k, of), count in branches.items()
               if count == 0]
    untaken += [(path, line, function, "never called") for (path, function, line), count in coverage.functions.items()
                if count == 0 and os.path.basename(path) not in skipped]
    numbers_untaken = collections.Counter((path, function) for path, _, function, _ in untaken)
    allowed = read_allowed()

    print("| file | lines | run | branches | taken |")
    print("|---|---:|---:|---:|---:|")

    def row(name, paths):
        run = [count for (path, _), count in lines.items() if path in paths]
        taken = [count for key, count in branches.items() if key[0] in paths]
        numbers = len(run), sum(map(bool, run)), len(taken), sum(map(bool, taken))
        print(f"| {name} | {numbers[0]} | {percent(numbers[1], numbers[0])} | {numbers[2]} | {percent(numbers[3], numbers[2])} |")
        return numbers

    files = sorted({path for path, _ in lines})
    for path in files:
        row(f"`{path}`", {path})
    passed = failed = 0
    for part, _ in PARTS:
        row(f"**{part}**", {path for path in files if part_of(path) == part})
        num_failed = 0
        for (path, function), number in sorted(numbers_untaken.items()):
            most = allowed.get((path, function), 0)
            if part_of(path) != part or number <= most:
                continue
            num_failed += 1
            print(f"FAILED: {path}: {function}: {number} branches are not taken, {most} may be")
        passed += num_failed == 0
        failed += num_failed
        for path, line, function, what in sorted(item for item in untaken if part_of(item[0]) == part):
            print(f"not taken: {path}:{line}: {function}, {what}: {code(path, line)}")
    for (path, function), most in sorted(allowed.items()):
        if os.path.basename(path) not in skipped and numbers_untaken[path, function] < most:
            print(f"{path}: {function}: {most} branches may be untaken, {numbers_untaken[path, function]} are")
    num_lines, num_run, num_branches, num_taken = row("**all**", set(files))
    print(f"note: {percent(num_run, num_lines)} of {num_lines} lines, {percent(num_taken, num_branches)} of "
          f"{num_branches} branches, {len(untaken)} not taken")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], set(sys.argv[2:])))
