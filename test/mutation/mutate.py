#!/usr/bin/python3
"""Mutation check: does a test fail for every small change to ext/?

    test/mutation/mutate.py [--skip N] [--limit N] [--minutes N] [--seed N] [--only REGEXP] [--plain] [--list]     (`make mutation`)

Each mutant is one file of ext/ with one token changed: an operator, a bound, a constant, a
condition negated; in the SQLite layer also with one statement deleted.  It is killed if what it compiles into does not pass the tests: one fails,
crashes, or takes far more time than before.  A mutant of the core meets the core's tests of
its file; one of the SQLite layer the SQL tests of its file, then all of them, the query
plans, the limits and the failing allocations.  What survives them unexplained is tried again
under AddressSanitizer and UndefinedBehaviorSanitizer, which `make test` runs as well.
Mutants that do not compile, or into the very same code (gcc -O2), are not counted.

The order of the mutants is shuffled by the seed, so that the first N are a fair sample.

test/mutation/survivors names the survivors that are known, and why each is equivalent:

    FILE | CHANGE | CODE
        why, indented

CHANGE is `before -> after`, with (2) after it if it is the second of its kind in the line, or
* for any; CODE is the line, a * at its end stands for the rest.
A survivor that is not there is a test to write or a line to add; one that is there and is
killed is stale.  Each of either counts as failed.  Prints `N passed, N failed` last: mutants
killed or explained, and what was wrong.
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
SANITIZERS = re.search(r"^sanitizers='(.*)'$", open("test/shared.sh", encoding="utf-8").read(), re.M).group(1)
SANITIZED = ["gcc", "-O1", *SANITIZERS.split()]
OPTIMISED = ["gcc", "-O2"]
LIST = "test/mutation/survivors"
MAX_MEMORY = 3 << 30

# Encodings have folders of their own.
CORE_FOLDERS = ["ext/core", *sorted(path.rstrip("/") for path in glob.glob("ext/core/*/"))]

# Not of this machine.
SKIPPED = {"kernels_neon.c"} if os.uname().machine == "x86_64" else {"kernels_avx2.c", "kernels_avx512.c"}

# The test programs of the core that are about a file, by the beginning of its name, the
# quickest first.
CORE_TESTS = {
    "bytes": ["bytes", "leveldb_hash"],
    "decimal": ["decimal"],
    "leveldb": ["encoding_leveldb", "filter", "kernels", "bounds"],
    "filter": ["filter", "encoding_leveldb", "kernels"],
    "kernels": ["kernels", "bounds"],
    "hash": ["leveldb_hash", "kernels"],
    "partition": ["partition"],
    "sizing": ["sizing"],
    "stats": ["stats"],
}

# The SQL tests that are about a file of the SQLite layer; one that is not here has tests of
# its name.
SQL_TESTS = {
    "bloom_build": ["bloom_build", "bloom_build_window"],
    "bloom_open": ["bloom_open"],
    "digest_queue": ["bloom_build", "bloom_build_window"],
    "errors": ["bloom_build", "bloom_merge", "bloom_info"],
    "filter_arg": ["bloom_may_contain", "bloom_add", "bloom_info"],
    "functions": ["schema"],
    "handle": ["bloom_open"],
    "sqlite_api": ["schema"],
    "size_args": ["bloom_build", "bloom_empty", "bloom_partition"],
    "bloom": ["schema"],
}

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
    seen = {}
    for mutant in found:
        key = (mutant.line, mutant.change)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            mutant.change += f" ({seen[key]})"
    return found


def limited(cpu_seconds, sanitized):
    def set_limits():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not sanitized:  # they reserve terabytes of addresses
            resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    return set_limits


def passes(command, cpu_seconds, sanitized, environment=None):
    share = "20" if sanitized else "100"
    environment = {**os.environ, "CMOCKA_TEST_ABORT": "1", "BLOOM_TEST_SHARE": share, **(environment or {})}
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=environment, timeout=60 * cpu_seconds,
                              preexec_fn=limited(cpu_seconds, sanitized)).returncode == 0
    except subprocess.TimeoutExpired:
        return False


class Build:
    """A copy of folders of this tree, built, of which single files are changed."""

    def __init__(self, name, compiler, folders):
        self.compiler, self.tree = [*compiler, "-std=c11", "-w"], f"{WORK}/{name}"
        self.sanitized = compiler is SANITIZED
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

    def time_limit(self, test):
        """Processor seconds: twice what the test takes where nothing is changed, and some."""
        if test not in self.seconds:
            self.link({})
            start = resource.getrusage(resource.RUSAGE_CHILDREN)
            if not self.passes(test, {}, 600):
                sys.exit(f"{test} fails before anything is changed")
            now = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.seconds[test] = now.ru_utime + now.ru_stime - start.ru_utime - start.ru_stime
        return int(2 * self.seconds[test]) + 2

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
        limits = [self.time_limit(test) for test in tests]
        self.apply(mutant)
        try:
            changed = self.rebuilt(mutant)
            if changed is None or not self.link(changed):
                return False
            for test, limit in zip(tests, limits):
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
            return [subprocess.run([*OPTIMISED, "-std=c11", "-w", "-S", "-o", "-", source], check=True,
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
        super().__init__(name, compiler, (*CORE_FOLDERS, "test/core"))

    @staticmethod
    def tests_of(path):
        name = os.path.basename(path)
        return next(tests for stem, tests in CORE_TESTS.items() if name.startswith(stem))

    def compiler_of(self, path):
        # The tests' own loops are long: they are compiled once, and well.
        is_test = path.startswith("test/") and self.compiler[0] == "tcc"
        return [*PLAIN, "-std=c11", "-w", "-DBLOOM_NO_SIMD"] if is_test else self.compiler

    def users_of(self, path):
        tests = {f"test/core/{test}_test.c" for test in self.tests_of(path)} | {"test/core/support.c"}
        return [path for path in self.objects if path.startswith("ext/") or path in tests]

    def link(self, changed):
        return True  # test by test

    def passes(self, test, changed, cpu_seconds):
        program = f"{self.tree}/{test}_test"
        objects = {**self.objects, **changed}
        inputs = [objects[path] for path in objects
                  if path.startswith("ext/") or path in (f"test/core/{test}_test.c", "test/core/support.c")]
        subprocess.run([*self.compiler, "-o", program, *inputs, "-lcmocka", "-lm"], check=True)
        return passes([program], cpu_seconds, self.sanitized)


class ExtensionBuild(Build):
    """The whole extension, loaded by the SQLite that is installed."""

    PROGRAMS = "build/release/test"

    def __init__(self, name, compiler):
        super().__init__(name, compiler, ("ext", "ext/sqlite", *CORE_FOLDERS))
        self.extension = f"{self.tree}/bloom.so"
        environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
        subprocess.run(["make", "-s", f"{self.PROGRAMS}/limits/limits", f"{self.PROGRAMS}/oom/oom"], check=True,
                       stdout=subprocess.DEVNULL, env=environment)
        self.environment = {}
        if self.sanitized:
            # The program that loads it is not sanitized: the runtimes must be there first.
            libraries = [subprocess.run(["gcc", f"-print-file-name=lib{name}.so"], check=True, capture_output=True,
                                        text=True).stdout.strip() for name in ("asan", "ubsan")]
            self.environment = {"LD_PRELOAD": " ".join(libraries)}

    @staticmethod
    def tests_of(path):
        stem = os.path.splitext(os.path.basename(path))[0]
        return [f"test/sql/{name}.test" for name in SQL_TESTS.get(stem, [stem])]

    def all_tests(self):
        return ["test/sql"] if self.sanitized else ["test/sql", "test/plans.tcl", "limits", "oom"]

    def compiler_of(self, path):
        return [*self.compiler, "-fPIC"]

    def users_of(self, path):
        return [path for path in self.objects if not path.startswith("ext/core/")]

    def link(self, changed):
        objects = {**self.objects, **changed}
        return subprocess.run([*self.compiler, "-shared", "-o", self.extension, *objects.values()],
                              capture_output=True).returncode == 0

    def passes(self, test, changed, cpu_seconds):
        if test == "limits":
            command = [f"{self.PROGRAMS}/limits/limits", f"./{self.extension}"]
        elif test == "oom":
            command = [f"{self.PROGRAMS}/oom/oom", f"./{self.extension}", "test/oom/schema.sql", "test/oom/statements.sql"]
        elif test.endswith(".tcl"):
            command = ["tclsh", test, f"./{self.extension}"]
        else:
            command = ["tclsh", "test/sqllogictest.tcl", "--load", f"./{self.extension}", test]
        return passes(command, cpu_seconds, self.sanitized, self.environment)


def read_list():
    listed = []
    for line in open(LIST, encoding="utf-8"):
        if line.strip() and not line.startswith("#") and not line[0].isspace():
            # A change may be of | itself.
            listed.append(re.fullmatch(r"(\S+) \| (\*|condition -> negated|\S+ -> \S+(?: \(\d+\))?) \| (.*)",
                                       line.strip()).groups())
    return listed


def is_listed(mutant, row):
    path, change, code = row
    return (mutant.path == path and change in ("*", mutant.change)
            and (mutant.code.startswith(code[:-1]) if code.endswith("*") else mutant.code == code))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--limit", type=int, default=10**9)
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long: a smaller sample")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--plain", action="store_true", help="no second try with sanitizers")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()

    paths = sorted(path for folder in CORE_FOLDERS for path in glob.glob(f"{folder}/*.[ch]")
                   if os.path.basename(path) not in SKIPPED)
    paths += ["ext/bloom.c"] + sorted(f"ext/sqlite/{file}" for file in os.listdir("ext/sqlite"))
    mutants = [mutant for path in paths for mutant in mutants_of(path)]
    random.Random(options.seed).shuffle(mutants)
    chosen = [mutant for mutant in mutants if re.search(options.only, str(mutant))][options.skip :][: options.limit]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.path}:{mutant.line}: {mutant.change}: {mutant.code}")
        print(len(chosen))
        return 0

    os.makedirs(WORK, exist_ok=True)
    builds = {}

    def build(path, name, compiler):
        kind = CoreBuild if path.startswith("ext/core/") else ExtensionBuild
        name = name if kind is CoreBuild else f"extension_{name}"
        if name not in builds:
            builds[name] = kind(name, compiler)
        return builds[name]

    listed = read_list()
    used = set()
    killed, explained, unexplained, stale = {}, {}, [], []
    num_same = num_invalid = 0
    start = time.time()
    for number, mutant in enumerate(chosen, 1):
        if time.time() - start > 60 * options.minutes:
            chosen = chosen[: number - 1]
            break
        is_core = mutant.path.startswith("ext/core/")
        is_fast = is_core and not re.search("kernels_avx|sizing", mutant.path)
        first = build(mutant.path, *(("fast", FAST) if is_fast else ("plain", PLAIN)))
        tests = first.tests_of(mutant.path)
        by = first.kills(mutant, tests)
        if by is False:
            num_invalid += 1
            continue
        if by is None and first.same_code(mutant):
            num_same += 1
            continue
        rows = [row for row in listed if is_listed(mutant, row)]
        if by is None and not is_core:
            by = first.kills(mutant, first.all_tests())
        if by is None and not rows and not options.plain:
            sanitized = build(mutant.path, "sanitized", SANITIZED)
            by = sanitized.kills(mutant, tests if is_core else sanitized.all_tests())
        if by:
            killed.setdefault(mutant.path, []).append(mutant)
            # A row for any change of a line speaks of those that survive.
            stale += [mutant for row in rows if row[1] != "*"]
        elif rows:
            explained.setdefault(mutant.path, []).append(mutant)
            used.update(rows)
        else:
            unexplained.append(mutant)
            print(f"FAILED: survived: {mutant}     line {mutant.line}", flush=True)
        if number % 50 == 0:
            print(f"  {number} of {len(chosen)}, {time.time() - start:.0f} s", file=sys.stderr, flush=True)

    for mutant in stale:
        print(f"FAILED: {LIST} is stale: killed: {mutant}")
    if len(chosen) == len(mutants):
        for row in listed:
            if row not in used:
                stale.append(row)
                print(f"FAILED: {LIST} is stale: no such survivor: {' | '.join(row)}")

    print("| file | mutants | killed | explained | not explained |")
    print("|---|---:|---:|---:|---:|")
    sums = [0, 0, 0]
    for path in paths:
        row = [len(killed.get(path, [])), len(explained.get(path, [])), sum(m.path == path for m in unexplained)]
        if sum(row):
            print(f"| `{path}` | {sum(row)} | {row[0]} | {row[1]} | {row[2]} |")
        sums = [a + b for a, b in zip(sums, row)]
    print(f"| **all** | {sum(sums)} | {sums[0]} | {sums[1]} | {sums[2]} |")
    print(f"note: {sum(sums)} of {len(mutants)} mutants (seed {options.seed}): {sums[0]} killed, {sums[1]} explained as "
          f"equivalent, {sums[2]} neither; {num_same} more compile to the same code, {num_invalid} not at all; "
          f"{time.time() - start:.0f} s")
    failed = len(stale) + len(unexplained)
    print(f"{sums[0] + sums[1]} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
