#!/usr/bin/python3
"""Counts which lines and branches of ext/ the tests took: count.py BUILD [LIST [SKIP ...]].

BUILD is the folder of a build with --coverage whose programs have run; test/coverage/run.sh
makes both.  gcov counts each object file; here they are summed up, so that an inline
function of a header counts once, wherever it was used.

LIST (test/coverage/untaken) names every branch that no test takes, and why:

    FILE FUNCTION K/N: CODE
        why, indented

K is the branch of the N that gcov sees in that line, in its order, or `call` for a function
that is never called; CODE is the line.  Fails if a branch that is not taken is missing
there, if one that is listed is taken, or if a part of the program is below its bar.
SKIP: names of files that cannot run on this machine.

Prints a Markdown table, then `N passed, N failed`.
"""

import collections
import glob
import json
import os
import subprocess
import sys

# Part, its files, and the least share of branches taken, in per cent.
PARTS = [
    ("core", "ext/core/", 100),
    ("SQLite layer", "ext/", 95),
]


def part_of(path):
    return next(part for part, prefix, _ in PARTS if path.startswith(prefix))


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
    notes = sorted(glob.glob(f"{build}/ext/**/*.gcno", recursive=True))
    for note in notes:
        command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", note]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for report in output.splitlines():
            coverage.add(json.loads(report))
    return coverage


def read_list(path):
    """The branches listed, each as (file, function, "K/N" or "call", code) -> how often."""
    listed, reason = collections.Counter(), True
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.startswith("#"):
                continue
            if line[0].isspace():
                reason = True
                continue
            if not reason:
                sys.exit(f"{path}:{number}: the branch above has no reason")
            head, code = line.rstrip("\n").split(": ", 1)
            listed[tuple(head.split()) + (code,)] += 1
            reason = False
    if not reason:
        sys.exit(f"{path}: the last branch has no reason")
    return listed


def percent(part, whole):
    # Rounded down: 100 is said of all only.
    return f"{int(1000 * part / whole) / 10:g} %" if whole else "-"


def main(build, list_path, skipped):
    coverage = gather(build)
    sources = {}

    def code(path, line):
        if path not in sources:
            with open(path, encoding="utf-8") as file:
                sources[path] = file.read().splitlines()
        return sources[path][line - 1].strip()

    def ours(path):
        return os.path.basename(path) not in skipped

    untaken = collections.Counter()
    for (path, function, line, k, of), count in coverage.branches.items():
        if count == 0 and ours(path):
            untaken[path, function, f"{k}/{of}", code(path, line)] += 1
    for (path, function, line), count in coverage.functions.items():
        if count == 0 and ours(path):
            untaken[path, function, "call", code(path, line)] += 1
    listed = read_list(list_path)

    files = sorted({path for path, _ in coverage.lines if ours(path)})
    passed = failed = 0

    def check(good, message):
        nonlocal passed, failed
        if good:
            passed += 1
        else:
            failed += 1
            print(f"FAILED: {message}")

    rows = []
    for part, _, bar in PARTS:
        members = [path for path in files if part_of(path) == part]
        totals = [0] * 5
        for path in members:
            lines = [count for (file, _), count in coverage.lines.items() if file == path]
            branches = [count for key, count in coverage.branches.items() if key[0] == path]
            explained = sum(count for key, count in listed.items() if key[0] == path and key[2] != "call")
            row = [len(lines), sum(map(bool, lines)), len(branches), sum(map(bool, branches)), explained]
            totals = [a + b for a, b in zip(totals, row)]
            rows.append((f"`{path}`", row))
        rows.append((f"**{part}**", totals))
        taken = 100 * totals[3] / totals[2] if totals[2] else 0
        check(taken >= bar, f"{part}: {taken:.2f} % of the branches are taken, the bar is {bar} %")

    for path in files:
        new = [key for key, count in untaken.items() if key[0] == path and count > listed[key]]
        message = f"{path}: not taken, and not in {list_path}:"
        for _, function, which, text in sorted(new):
            message += f"\n  {path} {function} {which}: {text}"
        check(not new, message)
    for key, count in listed.items():
        if ours(key[0]):
            check(count <= untaken[key], f"{list_path} is stale: taken, or gone:\n  {' '.join(key[:3])}: {key[3]}")

    print("| file | lines | run | branches | taken | untaken, explained |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, (lines, run, branches, taken, explained) in rows:
        print(f"| {name} | {lines} | {percent(run, lines)} | {branches} | {percent(taken, branches)} | {explained or ''} |")
    total = [sum(values) for values in zip(*(row for name, row in rows if name.startswith("**")))]
    print(f"note: {percent(total[1], total[0])} of {total[0]} lines, {percent(total[3], total[2])} of {total[2]} branches")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], set(sys.argv[3:])))
