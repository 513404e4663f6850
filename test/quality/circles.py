#!/usr/bin/python3
"""No circle of files in ext/: an object file that needs a symbol of another is not needed by it, however indirectly.
And no circle of headers, which their guards would hide.

    circles.py [build folder]    from the top of the checkout, after `make`; prints `N passed, N failed` last
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

# What is not cured yet: nothing.
KNOWN = []

# Defined once, by bloom.c, and needed by every file that calls SQLite.
OF_ALL = "sqlite3_api"


def needs_of_objects(build):
    """{file: {file that it needs: symbols}}, by nm; objects whose source is gone are left out."""
    defined, needed = {}, {}
    for path in glob.glob(os.path.join(build, "ext", "**", "*.o"), recursive=True):
        source = os.path.relpath(path, build)[:-2] + ".c"
        if not os.path.exists(source):
            continue
        needed[source] = set()
        for line in subprocess.run(["nm", "-g", path], check=True, capture_output=True, text=True).stdout.splitlines():
            *_, kind, symbol = line.split()
            if kind == "U":
                needed[source].add(symbol)
            else:
                defined[symbol] = source
    return {source: group((defined[symbol], symbol) for symbol in symbols
                          if symbol.lstrip("_") != OF_ALL and defined.get(symbol, source) != source)
            for source, symbols in needed.items()}


def needs_of_headers():
    """{header: {header that it includes: its #include}}."""
    needs = {}
    for path in glob.glob("ext/**/*.h", recursive=True):
        with open(path) as file:
            names = re.findall(r'^#\s*include "(.*)"', file.read(), re.M)
        needs[path] = group((os.path.normpath(os.path.join(os.path.dirname(path), name)), "#include") for name in names)
    return needs


def group(pairs):
    groups = {}
    for key, value in sorted(pairs):
        groups.setdefault(key, []).append(value)
    return groups


def circles(needs):
    """The largest sets of files each of which needs each other one, however indirectly."""
    def reached(start, seen):
        for file in needs.get(start, ()):
            if file not in seen:
                seen.add(file)
                reached(file, seen)
        return seen

    reach = {file: reached(file, set()) for file in needs}
    sets = {tuple(sorted(other for other in reach[file] if file in reach.get(other, ())))
            for file in needs if file in reach[file]}
    return sorted(sets)


def faults(needs, known):
    """What is wrong, a text for each circle that is not known, and for each known one that is gone."""
    known = [tuple(sorted(files.split())) for files in known]
    found = circles(needs)
    texts = []
    for circle in found:
        if circle not in known:
            lines = [f"  {file} needs {', '.join(symbols)} of {other}" for file in circle
                     for other, symbols in needs[file].items() if other in circle]
            texts.append("\n".join(["a circle of files: " + " ".join(circle), *lines]))
    return texts + [f"no circle any more, take it off KNOWN: {' '.join(files)}" for files in known if files not in found]


def plant(folder):
    """Three files, each of which calls the next one, one of which calls a fourth; and two headers."""
    os.makedirs(os.path.join(folder, "ext", "core"))
    calls = {"ext/core/a": ["b"], "ext/core/b": ["c", "sqlite3_api"], "ext/c": ["a", "d"], "ext/d": ["sqlite3_api"]}
    for path, names in calls.items():
        source = os.path.join(folder, path + ".c")
        with open(source, "w") as file:
            body = "".join(f"void {name}(void);" for name in names) + f"void {path[-1]}(void){{"
            file.write(body + "".join(f"{name}();" for name in names) + "}\n" + "void sqlite3_api(void){}\n" * (path == "ext/d"))
        subprocess.run([os.environ.get("CC", "cc"), "-c", "-o", source[:-1] + "o", source], check=True)
    for path, name in ("ext/core/x", "../y.h"), ("ext/y", "core/x.h"):
        with open(os.path.join(folder, path + ".h"), "w") as file:
            file.write(f'#include "{name}"\n')


def self_test():
    """Finds what is planted, and nothing where it is known."""
    top = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        plant(folder)
        os.chdir(folder)
        try:
            objects, headers = needs_of_objects("."), needs_of_headers()
        finally:
            os.chdir(top)
    ring = "ext/c.c ext/core/a.c ext/core/b.c"
    yield "planted circle of files", faults(objects, []) == [
        f"a circle of files: {ring}\n  ext/c.c needs a of ext/core/a.c\n  ext/core/a.c needs b of ext/core/b.c\n"
        "  ext/core/b.c needs c of ext/c.c"]
    yield "planted circle, known", faults(objects, [ring]) == []
    yield "known circle that is gone", len(faults(objects, [ring, "ext/c.c ext/d.c"])) == 1
    yield "planted circle of headers", circles(headers) == [("ext/core/x.h", "ext/y.h")]


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build/release"
    tests = list(self_test())
    objects, headers = needs_of_objects(build), needs_of_headers()
    tests.append((f"{build} has an object of each file", set(objects) == set(glob.glob("ext/**/*.c", recursive=True))))
    for text in faults(objects, KNOWN) + faults(headers, []):
        tests.append((text, False))
    tests.append(("circles", True))
    for what, is_right in tests:
        if not is_right:
            print("FAILED", what)
    failed = sum(not is_right for _, is_right in tests)
    print(f"note: {len(objects)} files, {sum(len(needs) for needs in objects.values())} pairs of which one needs the other")
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    main()
