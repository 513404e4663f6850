#!/usr/bin/python3
"""Mutation check of the core: does a test fail for every small change to ext/core?

    test/mutate.py [--skip N] [--limit N] [--minutes N] [--seed N] [--only REGEXP] [--plain] [--list]     (`make mutation`)

Each mutant is ext/core with one token changed: an operator, a bound, a constant, a condition
negated.  It is killed if it no longer compiles into what passes the core's tests: a test
fails, crashes, or takes far more time than before.  What survives them unexplained is tried
again under AddressSanitizer and UndefinedBehaviorSanitizer, which `make test` runs as well.  Mutants
that do not compile, or into the very same code (gcc -O2), are not counted.

The order of the mutants is shuffled by the seed, so that the first N are a fair sample.

test/mutation.survivors names the survivors that are known, and why each is equivalent:

    FILE | CHANGE | CODE
        why, indented

CHANGE is `before -> after`, with (2) after it if it is the second of its kind in the line, or
* for any; CODE is the line, a * at its end stands for the rest.
Survivors that are not there are printed: each is a test to write or a line to add.  Fails if
less than 95 % are killed, those explained as equivalent left out, or if one is listed that is
killed.  Prints `N passed, N failed` last: mutants killed or explained, and what was wrong.
"""

import argparse
import hashlib
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time

BAR = 95  # per cent killed
WORK = "build/mutation"
# tcc, where it is installed, compiles in a tenth of the time, but no vector code, and
# gives slow arithmetic.
FAST = ["tcc"] if shutil.which("tcc") else ["gcc", "-O1"]
PLAIN = ["gcc", "-O1"]
SANITIZED = ["gcc", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
OPTIMISED = ["gcc", "-O2"]
LIST = "test/mutation.survivors"
MAX_MEMORY = 3 << 30

# Not of this machine.
SKIPPED = {"kernels_neon.c"} if os.uname().machine == "x86_64" else {"kernels_avx2.c", "kernels_avx512.c"}

# The test programs that are about a file, by the beginning of its name, the quickest first.
TESTS = {
    "bytes": ["bytes", "leveldb_hash"],
    "decimal": ["decimal"],
    "encoding_leveldb": ["encoding_leveldb", "filter", "kernels", "bounds"],
    "filter": ["filter", "encoding_leveldb", "kernels"],
    "kernels": ["kernels", "bounds"],
    "leveldb_hash": ["leveldb_hash", "kernels"],
    "partition": ["partition"],
    "sizing": ["sizing"],
    "stats": ["stats"],
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
    seen = {}
    for mutant in found:
        key = (mutant.line, mutant.change)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            mutant.change += f" ({seen[key]})"
    return found


def tests_of(path):
    name = os.path.basename(path)
    return next(tests for stem, tests in TESTS.items() if name.startswith(stem))


def limited(cpu_seconds, sanitized):
    def set_limits():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not sanitized:  # they reserve terabytes of addresses
            resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    return set_limits


def passes(program, cpu_seconds, sanitized):
    share = "20" if sanitized else "100"
    environment = {**os.environ, "CMOCKA_TEST_ABORT": "1", "BLOOM_TEST_SHARE": share}
    try:
        return subprocess.run([program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=environment, timeout=60 * cpu_seconds,
                              preexec_fn=limited(cpu_seconds, sanitized)).returncode == 0
    except subprocess.TimeoutExpired:
        return False


class Build:
    """A tree with a copy of the core and of its tests, built, of which single files are changed."""

    def __init__(self, name, compiler):
        self.compiler, self.tree = [*compiler, "-std=c11", "-w"], f"{WORK}/{name}"
        self.sanitized = compiler is SANITIZED
        folders = ("ext/core", "test/core")
        paths = [f"{folder}/{file}" for folder in folders for file in sorted(os.listdir(folder))
                 if file.endswith((".c", ".h"))]
        # Unchanged sources need not be compiled again.
        sources = repr(self.compiler) + "".join(path + open(path, encoding="utf-8").read() for path in paths)
        stamp = f"{self.tree}/{hashlib.sha256(sources.encode()).hexdigest()}"
        is_built = os.path.exists(stamp)
        if not is_built:
            shutil.rmtree(self.tree, ignore_errors=True)
        for folder in folders:
            shutil.copytree(folder, f"{self.tree}/{folder}", dirs_exist_ok=True)
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
            start = resource.getrusage(resource.RUSAGE_CHILDREN)
            if not passes(self.link(test, {}), 600, self.sanitized):
                sys.exit(f"{test}_test fails before anything is changed")
            now = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.seconds[test] = now.ru_utime + now.ru_stime - start.ru_utime - start.ru_stime
        return int(2 * self.seconds[test]) + 2

    def compile(self, path, output=None):
        """The object file, or None if path does not compile."""
        output = output or f"{self.tree}/{path}.o"
        # The tests' own loops are long: they are compiled once, and well.
        is_test = path.startswith("test/") and self.compiler[0] == "tcc"
        compiler = [*PLAIN, "-std=c11", "-w", "-DBLOOM_NO_SIMD"] if is_test else self.compiler
        command = [*compiler, "-c", "-o", output, f"{self.tree}/{path}"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
        return output if done.returncode == 0 else None

    def link(self, test, changed):
        program = f"{self.tree}/{test}_test"
        objects = {**self.objects, **changed}
        inputs = [objects[path] for path in objects
                  if path.startswith("ext/") or path in (f"test/core/{test}_test.c", "test/core/support.c")]
        subprocess.run([*self.compiler, "-o", program, *inputs, "-lcmocka", "-lm"], check=True)
        return program

    def apply(self, mutant):
        text = open(mutant.path, encoding="utf-8").read()
        with open(f"{self.tree}/{mutant.path}", "w", encoding="utf-8") as file:
            file.write(text[: mutant.begin] + mutant.after + text[mutant.end :])

    def undo(self, mutant):
        shutil.copyfile(mutant.path, f"{self.tree}/{mutant.path}")

    def rebuilt(self, mutant):
        """The objects that the change reaches, or None if one does not compile."""
        tests = {f"test/core/{test}_test.c" for test in tests_of(mutant.path)} | {"test/core/support.c"}
        paths = [mutant.path] if mutant.path.endswith(".c") else [
            path for path in self.objects if path.startswith("ext/") or path in tests]
        changed = {path: self.compile(path, f"{self.tree}/changed.{i}.o") for i, path in enumerate(paths)}
        return changed if all(changed.values()) else None

    def kills(self, mutant):
        """The test that kills it, None if none does; False if it does not compile."""
        self.apply(mutant)
        try:
            changed = self.rebuilt(mutant)
            if changed is None:
                return False
            for test in tests_of(mutant.path):
                limit = self.time_limit(test)
                if not passes(self.link(test, changed), limit, self.sanitized):
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

    paths = sorted(f"ext/core/{file}" for file in os.listdir("ext/core") if file not in SKIPPED)
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

    def build(name, compiler):
        if name not in builds:
            builds[name] = Build(name, compiler)
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
        first = build("plain", PLAIN) if re.search("kernels_avx|sizing", mutant.path) else build("fast", FAST)
        by = first.kills(mutant)
        if by is False:
            num_invalid += 1
            continue
        if by is None and first.same_code(mutant):
            num_same += 1
            continue
        rows = [row for row in listed if is_listed(mutant, row)]
        if by is None and not rows and not options.plain:
            by = build("sanitized", SANITIZED).kills(mutant)
        if by:
            killed.setdefault(mutant.path, []).append(mutant)
            # A row for any change of a line speaks of those that survive.
            stale += [mutant for row in rows if row[1] != "*"]
        elif rows:
            explained.setdefault(mutant.path, []).append(mutant)
            used.update(rows)
        else:
            unexplained.append(mutant)
            print(f"SURVIVED: {mutant}     line {mutant.line}", flush=True)
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
    share = 100 * sums[0] / max(1, sums[0] + sums[2])
    if share < BAR:
        print(f"FAILED: {share:.1f} % are killed, the bar is {BAR} %")
    print(f"note: {sum(sums)} of {len(mutants)} mutants (seed {options.seed}): {sums[0]} killed, {sums[1]} explained as "
          f"equivalent, {sums[2]} neither ({share:.1f} %); {num_same} more compile to the same code, {num_invalid} not at all; "
          f"{time.time() - start:.0f} s")
    failed = len(stale) + (share < BAR)
    print(f"{sums[0] + sums[1]} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
