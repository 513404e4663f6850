#!/usr/bin/python3
"""Mutation check: does a test fail for every small change to ext/?

    test/quality/mutation/mutate.py [--limit N] [--minutes N] [--seed N] [--only REGEXP]
    (`make mutation`)

Each mutant is one file of ext/ with one token changed: an operator, a bound, a constant, a
condition negated; in the SQLite layer also with one statement deleted.  It is killed if what
it compiles into does not pass the tests: one fails, crashes, or takes far more time than
before.  A mutant of the core meets the core's tests of its file and folder, and the quick
ones; one of the SQLite layer the SQL tests of its file, the suites of its folder (SUITES), then
all SQL tests, the query plans, the limits and the failing allocations.  Mutants that do not
compile, or into the very same code (gcc -O2), are not counted.

Survivors are printed.  Most change speed, or nothing at all; each of the others is a test to
write.  Nobody keeps a list of them, which every edit of the source would outdate.  Instead it
fails if less than KILLED of the mutants are killed, by more than chance.

The order of the mutants is shuffled by the seed, so that the first N are a fair sample.
Prints `N passed, N failed` last: mutants killed, and what was wrong.
"""

import argparse
import glob
import hashlib
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time

WORK = "build/mutation"
# tcc, where it is installed, compiles in a tenth of the time, but no vector code, and
# gives slow arithmetic.
FAST = ["tcc"] if shutil.which("tcc") else ["gcc", "-O1"]
PLAIN = ["gcc", "-O1"]
SHARED = open("test/lib/shared.sh", encoding="utf-8").read()


def flags(name):
    return re.search(rf"^{name}='(.*)'$", SHARED, re.M).group(1).split()


OPTIMISED = ["gcc", "-O2"]
# The share of mutants that the tests kill; nearly all others change speed, or nothing.
KILLED = 0.88
MAX_MEMORY = 3 << 30

# Encodings have folders of their own.
CORE_FOLDERS = ["ext/core", *sorted(path.rstrip("/") for path in glob.glob("ext/core/*/"))]
SQLITE_FOLDERS = ["ext/sqlite", *sorted(path.rstrip("/") for path in glob.glob("ext/sqlite/*/"))]

# What proves a folder beyond its SQL tests, the quick ones first.
VTAB = ["test/sql/records/bloom_table*.test", "test/vtab/model.py --statements 5000 --seed 5",
        "test/vtab/damage.py --runs 20 --seed 5", "test/vtab/tuples.py", "test/vtab/certain.py", "test/vtab/not_in_the_way.py",
        "test/vtab/running.py", "test/source/identity.py"]
INDEX = ["test/sql/records/bloom_index*.test", "test/index/hostile.py --runs 10 --seed 5",
         "test/index/model.py --runs 8 --seed 5", "test/source/identity.py", "test/index/real_data.py --seed 5"]
SUITES = {"ext/sqlite/vtab": VTAB, "ext/sqlite/index": INDEX, "ext/sqlite/source": [*dict.fromkeys(VTAB[:5] + INDEX + VTAB[5:])]}
# Other versions of SQLite, which read some decimals otherwise: long, and for one file only.
DECIMALS = {"equality.c": ["test/docs/limits.py --only another_sqlite"]}
# The virtual tables in which much happens with few rows, and what only these show.
TINY = [*PLAIN, *flags("tiny_limits")]
TINY_INDEX = [f"test/index/{name}.py --slow" for name in ("damage", "writers", "steps", "zones")]
TINY_SUITES = {"ext/sqlite/vtab": VTAB[1:3], "ext/sqlite/index": TINY_INDEX, "ext/sqlite/source": VTAB[1:3] + TINY_INDEX[:2]}

# A test program that is not named after the file or its folder is run only if it takes no longer.
MAX_SECONDS = 5

TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<directive>^[ \t]*\#(?!\s*define)[^\n]*)|(?P<name>[A-Za-z_]\w*)
    |(?P<number>0[xX][0-9a-fA-F.]+(?:[pP][+-]?\d+)?[uUlL]*|(?:\d+\.\d*|\d+)(?:[eE][+-]?\d+)?[uUlLfF]*)
    |(?P<operator><<=|>>=|->|\+\+|--|&&|\|\||<<|>>|<=|>=|==|!=|\+=|-=|\*=|/=|%=|&=|\|=|\^=|[-+*/%&|^~!<>=?:;,.(){}\[\]])
    |(?P<other>\S)""",
    re.M | re.S | re.X,
)

REPLACED = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"],
    "&": ["|"], "|": ["&"], "^": ["|"], "<<": [">>"], ">>": ["<<"], "&&": ["||"], "||": ["&&"],
    "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "&=": ["|="], "|=": ["&="], "^=": ["|="],
    ">>=": ["<<="], "<<=": [">>="], "++": ["--"], "--": ["++"],
}


def constants(text):
    """A number's neighbours; text keeps its suffix."""
    body, suffix = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)|.*", text).groups() or (None, None)
    if body is None:  # a floating point number
        return [f"({text}*1.01)", f"({text}*0.5)"]
    value = int(body, 0)
    rendered = hex if body[:2].lower() == "0x" else str
    return [rendered(value + 1) + suffix] + ([rendered(value - 1) + suffix] if value else [])

# An assignment or a call that is a statement by itself, perhaps behind an if.
STATEMENT = re.compile(
    r"^[ ]+(?:(?:\}[ ]else[ ])?if\([^\n]*?\)[ ]|for\([^\n]*?\)[ ])?"
    r"((?:\w[\w.\[\]]*(?:->[\w.\[\]]+)*[ ][-+]?=[ ][^;\n]+|[\w.>-]+(?:\+\+|--)|\w+\([^;\n]*\));)", re.M)


class Mutant:
    def __init__(self, path, begin, end, after, text):
        self.path, self.begin, self.end, self.after = path, begin, end, after
        self.before = text[begin:end]
        self.line = text.count("\n", 0, begin) + 1
        self.code = text.splitlines()[self.line - 1].strip()
        if self.before.startswith("("):  # a whole condition
            self.change = "condition -> negated"
        else:
            self.change = f"{self.before} -> {after}"

        if after == ";":
            self.change = "statement -> deleted"

    def __str__(self):
        return f"{self.path} | {self.change} | {self.code}"


def mutants_of(path):
    text = open(path, encoding="utf-8").read()
    tokens = [m for m in TOKEN.finditer(text) if m.lastgroup not in ("comment", "directive")]
    found = []
    for i, token in enumerate(tokens):
        kind, word, before = token.lastgroup, token.group(), tokens[i - 1] if i else None
        in_define = text[text.rfind("\n", 0, token.start()) + 1 :].lstrip().startswith("#")
        if kind == "number":
            # Sizes of arrays and lists of constants count, names of headers do not come here.
            found += [Mutant(path, *token.span(), after, text) for after in constants(word)]
        elif kind == "operator" and word in REPLACED and not in_define:
            binary = before and (before.lastgroup in ("name", "number", "string") or before.group() in (")", "]"))
            if before and before.group() in ("return", "case"):
                binary = False
            if word in ("+", "-", "*", "&") and not binary:
                continue
            if re.fullmatch(r"\s\*\S", text[token.start() - 1 : token.end() + 1]):
                continue  # a pointer's
            found += [Mutant(path, *token.span(), after, text) for after in REPLACED[word]]
        elif kind == "name" and word in ("if", "while") and not in_define:
            depth, j = 0, i + 1
            while True:
                depth += {"(": 1, ")": -1}.get(tokens[j].group(), 0)
                if depth == 0:
                    break
                j += 1
            begin, end = tokens[i + 1].start(), tokens[j].end()
            found.append(Mutant(path, begin, end, f"(!{text[begin:end]})", text))
    if not path.startswith("ext/core/"):
        found += [Mutant(path, *statement.span(1), ";", text) for statement in STATEMENT.finditer(text)]
    # What only mistakes break, and no test of a release does.
    found = [mutant for mutant in found if not re.match(r"assert\(|_Static_assert\(", mutant.code)]
    seen = {}
    for mutant in found:
        key = (mutant.line, mutant.change)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            mutant.change += f" ({seen[key]})"
    return found


def limited(cpu_seconds):
    def set_limits():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    return set_limits


def passes(command, cpu_seconds):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=60 + 10 * cpu_seconds,
                              preexec_fn=limited(cpu_seconds)).returncode == 0
    except subprocess.TimeoutExpired:
        return False


class Build:
    """A copy of folders of this tree, built, of which single files are changed."""

    def __init__(self, name, compiler, folders):
        self.compiler, self.tree = [*compiler, "-std=c11", "-w"], f"{WORK}/{name}"
        paths = [f"{folder}/{file}" for folder in folders for file in sorted(os.listdir(folder))
                 if file.endswith((".c", ".h"))]
        # Unchanged sources need not be compiled again.
        sources = repr(self.compiler) + "".join(path + open(path, encoding="utf-8").read() for path in paths)
        stamp = f"{self.tree}/{hashlib.sha256(sources.encode()).hexdigest()}"
        is_built = os.path.exists(stamp)
        if not is_built:
            shutil.rmtree(self.tree, ignore_errors=True)
        for path in paths:
            os.makedirs(os.path.dirname(f"{self.tree}/{path}"), exist_ok=True)
            shutil.copyfile(path, f"{self.tree}/{path}")
        self.objects = {path: f"{self.tree}/{path}.o" for path in paths
                        if path.endswith(".c") and not os.path.basename(path).startswith("leveldb_oracle")}
        for path in self.objects:
            if not is_built and not self.compile(path):
                sys.exit(f"{path} does not compile")
        open(stamp, "w", encoding="utf-8").close()
        self.seconds = {}

    def time_of(self, test):
        """The processor seconds that a test takes where nothing is changed."""
        if test not in self.seconds:
            self.link({})
            start = resource.getrusage(resource.RUSAGE_CHILDREN)
            if not self.passes(test, {}, 600):
                sys.exit(f"{test} fails before anything is changed")
            now = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.seconds[test] = now.ru_utime + now.ru_stime - start.ru_utime - start.ru_stime
        return self.seconds[test]

    def compile(self, path, output=None):
        """The object file, or None if path does not compile."""
        output = output or f"{self.tree}/{path}.o"
        done = subprocess.run([*self.compiler_of(path), "-c", "-o", output, f"{self.tree}/{path}"],
                              stdin=subprocess.DEVNULL, capture_output=True)
        return output if done.returncode == 0 else None

    def apply(self, mutant):
        text = open(mutant.path, encoding="utf-8").read()
        with open(f"{self.tree}/{mutant.path}", "w", encoding="utf-8") as file:
            file.write(text[: mutant.begin] + mutant.after + text[mutant.end :])

    def undo(self, mutant):
        shutil.copyfile(mutant.path, f"{self.tree}/{mutant.path}")

    def rebuilt(self, mutant):
        """The objects that the change reaches, or None if one does not compile."""
        paths = [mutant.path] if mutant.path.endswith(".c") else self.users_of(mutant.path)
        changed = {path: self.compile(path, f"{self.tree}/changed.{i}.o") for i, path in enumerate(paths)}
        return changed if all(changed.values()) else None

    def kills(self, mutant, tests):
        """The test that kills it, None if none does; False if it does not compile."""
        self.apply(mutant)
        try:
            changed = self.rebuilt(mutant)
            if changed is None or not self.link(changed):
                return False
            for test in tests:
                limit = int(2 * self.time_of(test)) + 2
                self.link(changed)  # the time was that of what is not changed
                if not self.passes(test, changed, limit):
                    return test
            return None
        finally:
            self.undo(mutant)

    def same_code(self, mutant):
        """gcc -O2 makes the same of it, so no test can tell."""
        paths = [mutant.path] if mutant.path.endswith(".c") else [p for p in self.objects if p.startswith("ext/")]

        def code():
            sources = [f"{self.tree}/{path}" for path in paths]
            return [subprocess.run([*OPTIMISED, "-std=c11", "-w", "-S", "-o", "-", source],
                                   capture_output=True).stdout for source in sources]

        try:
            before = code()
            self.apply(mutant)
            return before == code()
        finally:
            self.undo(mutant)


class CoreBuild(Build):
    """The core and its tests: each test is a program, linked with the changed objects."""

    def __init__(self, name, compiler):
        super().__init__(name, compiler, (*CORE_FOLDERS, "test/core", "test/lib"))
        self.tests = [os.path.basename(path)[: -len("_test.c")] for path in self.objects if path.endswith("_test.c")]

    def tests_of(self, path):
        """Those named after the file or its folder, then the others, if they are quick."""
        stem = re.match("[a-z]+", os.path.basename(path)).group()
        its = [test for test in self.tests if test.endswith(stem) or test == os.path.basename(os.path.dirname(path))]
        yield from its
        yield from (test for test in self.tests if test not in its and self.time_of(test) <= MAX_SECONDS)

    def compiler_of(self, path):
        # The tests' own loops are long: they are compiled once, and well.
        is_test = path.startswith("test/") and self.compiler[0] == "tcc"
        return [*PLAIN, "-std=c11", "-w", "-DBLOOM_NO_SIMD"] if is_test else self.compiler

    def users_of(self, path):
        return list(self.objects)

    def link(self, changed):
        return True  # test by test

    def passes(self, test, changed, cpu_seconds):
        program = f"{self.tree}/{test}_test"
        objects = {**self.objects, **changed}
        inputs = [objects[path] for path in objects
                  if path.startswith("ext/") or path in (f"test/core/{test}_test.c", "test/core/support.c")]
        subprocess.run([*self.compiler, "-o", program, *inputs, "-lm"], check=True)
        return passes([program], cpu_seconds)


class ExtensionBuild(Build):
    """The whole extension, loaded by the SQLite that is installed."""

    PROGRAMS = "build/release/test"

    def __init__(self, name, compiler):
        super().__init__(name, compiler, ("ext", *SQLITE_FOLDERS, *CORE_FOLDERS))
        self.extension = f"{self.tree}/bloom.so"
        environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
        subprocess.run(["make", "-s", *(f"{self.PROGRAMS}/faults/{name}/{name}" for name in ("limits", "load", "oom"))], check=True,
                       stdout=subprocess.DEVNULL, env=environment)

    def tests_of(self, path):
        """Those named after the file, its folder's suites, then all."""
        stem = os.path.splitext(os.path.basename(path))[0]
        rest = ["test/sql/records", "test/sql/plans.tcl", "limits", "load", "oom"]
        suites = SUITES.get(os.path.dirname(path), []) + DECIMALS.get(os.path.basename(path), [])
        return sorted(glob.glob(f"test/sql/records/{stem}*.test")) + suites + rest

    def compiler_of(self, path):
        return [*self.compiler, "-fPIC"]

    def users_of(self, path):
        return [path for path in self.objects if not path.startswith("ext/core/")]

    def link(self, changed):
        objects = {**self.objects, **changed}
        return subprocess.run([*self.compiler, "-shared", "-o", self.extension, *objects.values()],
                              capture_output=True).returncode == 0

    def passes(self, test, changed, cpu_seconds):
        if test in ("limits", "load"):
            command = [f"{self.PROGRAMS}/faults/{test}/{test}", f"./{self.extension}"]
        elif test == "oom":
            command = [f"{self.PROGRAMS}/faults/oom/oom", f"./{self.extension}", "test/faults/oom/statements.sql"]
        elif test.endswith(".tcl"):
            command = ["tclsh", test, f"./{self.extension}"]
        elif ".py" in test:
            command = [sys.executable, *test.split(), "--load", f"./{self.extension}"]
        else:
            command = ["tclsh", "test/sql/runner/sqllogictest.tcl", "--load", f"./{self.extension}", *sorted(glob.glob(test))]
        return passes(command, cpu_seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=int, default=10**9)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long: a smaller sample")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()

    paths = sorted(path for folder in CORE_FOLDERS for path in glob.glob(f"{folder}/*.[ch]"))
    paths += ["ext/bloom.c"] + sorted(path for folder in SQLITE_FOLDERS for path in glob.glob(f"{folder}/*.[ch]"))
    mutants = [mutant for path in paths for mutant in mutants_of(path)]
    random.Random(options.seed).shuffle(mutants)
    chosen = [mutant for mutant in mutants if re.search(options.only, str(mutant))][: options.limit]

    os.makedirs(WORK, exist_ok=True)
    builds = {}

    def build(path, name, compiler):
        kind = CoreBuild if path.startswith("ext/core/") else ExtensionBuild
        name = name if kind is CoreBuild else f"extension_{name}"
        if name not in builds:
            builds[name] = kind(name, compiler)
        return builds[name]

    killed, survived = {}, {}
    num_same = num_invalid = 0
    start = time.time()
    for number, mutant in enumerate(chosen, 1):
        if time.time() - start > 60 * options.minutes:
            chosen = chosen[: number - 1]
            break
        is_core = mutant.path.startswith("ext/core/")
        is_fast = is_core and not re.search("kernels_avx|sizing", mutant.path)
        first = build(mutant.path, *(("fast", FAST) if is_fast else ("plain", PLAIN)))
        if os.path.dirname(mutant.path) in SUITES and mutant.path.endswith(".c") and first.same_code(mutant):
            num_same += 1  # known before minutes of tests
            continue
        tests = first.tests_of(mutant.path)
        by = first.kills(mutant, tests)
        if by is None and os.path.dirname(mutant.path) in TINY_SUITES:
            # None or a test: it compiles.
            by = build(mutant.path, "tiny", TINY).kills(mutant, TINY_SUITES[os.path.dirname(mutant.path)])
        if by is False:
            num_invalid += 1
            continue
        if by is None and first.same_code(mutant):
            num_same += 1
            continue
        counts = killed if by else survived
        counts[mutant.path] = counts.get(mutant.path, 0) + 1
        if not by:
            print(f"survived: {mutant}     line {mutant.line}", flush=True)
        if number % 50 == 0:
            print(f"  {number} of {len(chosen)}, {time.time() - start:.0f} s", file=sys.stderr, flush=True)

    print("| file | mutants | killed | survived |")
    print("|---|---:|---:|---:|")
    for path in paths:
        row = killed.get(path, 0), survived.get(path, 0)
        if sum(row):
            print(f"| `{path}` | {sum(row)} | {row[0]} | {row[1]} |")
    num_killed, num_survived = sum(killed.values()), sum(survived.values())
    num_mutants = num_killed + num_survived
    print(f"| **all** | {num_mutants} | {num_killed} | {num_survived} |")
    print(f"note: {num_mutants} of {len(mutants)} mutants (seed {options.seed}): {num_killed} killed, {num_survived} survived; "
          f"{num_same} more compile to the same code, {num_invalid} not at all; {time.time() - start:.0f} s")
    # Three standard deviations of a fair sample.
    least = KILLED * num_mutants - 3 * (num_mutants * KILLED * (1 - KILLED)) ** 0.5
    failed = int(num_killed < least)
    if failed:
        print(f"FAILED: {num_killed} of {num_mutants} mutants are killed, at least {least:.0f} should be")
    print(f"{num_killed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
